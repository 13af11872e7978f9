#!/usr/bin/env node
/**
 * Runs a program so that nothing of it is left behind, however it, this process or npm ends:
 *
 *   node scripts/supervise.mjs [--no-namespace [--if-killed SCRIPT]] PROGRAM ARGS…
 *
 * Processes: the program runs in a process namespace (unshare(1) of util-linux). The kernel kills every process of a
 * namespace when the first one ends, and the first one when this process is killed. A process that is still there when
 * the program has ended is listed, and fails the run (supervise/init.sh).
 *
 * Files: TMPDIR names a folder of the run. A guard process in a session of its own removes it when the run is over: it
 * reads from a pipe that closes when this process ends, even by SIGKILL.
 *
 * npm: when npm is killed, this process has another parent, and stops the program as if it had got SIGTERM.
 *
 * --no-namespace is for a program that others find by its process id, or that leaves something on purpose: it is told
 * to stop when this process is killed, and ends what it has started itself. The same happens where this user may make
 * no namespaces; the run says so. When the program itself is killed, Node runs the script of --if-killed, which takes
 * back what that left on purpose.
 *
 * Plain JavaScript, so that Node 20 can run it before the set-up.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const init = fileURLToPath(new URL("supervise/init.sh", import.meta.url));

/** A terminal and npm both send the signal of one Ctrl-C, ms. */
const sameKeystrokeMs = 300;
/** How often the parent is looked at, ms, and how long the program may take to stop when it is gone. */
const parentCheckMs = 500;
const orphanGraceMs = 10_000;

const isRoot = process.getuid?.() === 0;
const namespaceArguments = [
  ...["--pid", "--fork", "--mount-proc", "--kill-child=SIGKILL"],
  ...(isRoot ? [] : ["--user", "--map-current-user"]),
];

/**
 * Waits for a line, at the end of the run, or for the pipe to close; then removes the folder. In the second case
 * processes may be just being killed, and what they have written is removed once more.
 */
const guardScript =
  'read -r _ && exec rm -rf "$0"; for _ in 1 2 3 4 5; do rm -rf "$0"; sleep 0.2; [ -e "$0" ] || exit 0; done';

/** @param {string} folder */
const startGuard = (folder) => {
  const guard = spawn("/bin/sh", ["-c", guardScript, folder], { detached: true, stdio: ["pipe", "ignore", "ignore"] });
  return {
    async end() {
      guard.stdin.end("\n");
      if (guard.exitCode === null) await once(guard, "exit");
    },
  };
};

/**
 * The process id of the namespace's first process, seen from here; undefined until it is there. @param {number} pid of
 * `unshare`
 */
const firstProcessOf = (pid) => {
  try {
    const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ");
    return child ? Number(child) : undefined;
  } catch {
    return undefined;
  }
};

/** Whether this user may make process namespaces; says so when not. */
const mayIsolate = () => {
  const isAllowed = spawnSync("unshare", [...namespaceArguments, "true"], { stdio: "ignore" }).status === 0;
  if (!isAllowed)
    process.stderr.write("no process namespace can be made here: what a killed run leaves running stays\n");
  return isAllowed;
};

/** @param {string[]} command @param {{ isIsolated: boolean, env: NodeJS.ProcessEnv }} how */
const startProgram = (command, { isIsolated, env }) => {
  const whenKilled = ["--pdeathsig", isIsolated ? "KILL" : "TERM", "--"];
  const inNamespace = isIsolated ? ["unshare", ...namespaceArguments, "bash", init] : [];
  // In a session of its own a terminal's Ctrl-C reaches this process alone.
  const child = spawn("setpriv", [...whenKilled, ...inNamespace, ...command], {
    detached: true,
    stdio: "inherit",
    env,
  });
  return {
    exited: once(child, "exit"),
    /** @param {"SIGINT" | "SIGTERM" | "SIGKILL"} signal */
    signal(signal) {
      if (child.pid === undefined) return;
      try {
        const isWhole = !isIsolated || signal === "SIGKILL";
        process.kill(isWhole ? child.pid : (firstProcessOf(child.pid) ?? child.pid), signal);
      } catch {
        // It has ended meanwhile.
      }
    },
  };
};

/** @param {string[]} command @param {{ isIsolated: boolean, ifKilled: string | undefined }} how @returns {Promise<number>} the exit code */
const supervise = async (command, { isIsolated, ifKilled }) => {
  // Short: below it are Chromium's sockets, whose paths have at most 107 characters.
  const folder = mkdtempSync(join(tmpdir(), "bp-"));
  // A program may start others as another user, below this folder.
  chmodSync(folder, 0o711);
  const guard = startGuard(folder);
  const program = startProgram(command, { isIsolated, env: { ...process.env, TMPDIR: folder } });
  let signals = 0;
  let lastMs = Number.NEGATIVE_INFINITY;
  /** The third signal kills. @param {"SIGINT" | "SIGTERM"} signal */
  const stop = (signal) => {
    const nowMs = performance.now();
    if (nowMs - lastMs < sameKeystrokeMs) return;
    lastMs = nowMs;
    signals += 1;
    program.signal(signals < 3 ? signal : "SIGKILL");
  };
  process.on("SIGINT", () => stop("SIGINT"));
  process.on("SIGTERM", () => stop("SIGTERM"));
  process.on("SIGHUP", () => stop("SIGTERM"));
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    stop("SIGTERM");
    if (isIsolated) setTimeout(() => program.signal("SIGKILL"), orphanGraceMs);
  }, parentCheckMs);
  try {
    const [code, signal] = await program.exited;
    if (signal === "SIGKILL" && ifKilled) await once(spawn(process.execPath, [ifKilled], { stdio: "inherit" }), "exit");
    return code ?? 128 + constants.signals[/** @type {NodeJS.Signals} */ (signal)];
  } finally {
    clearInterval(timer);
    await guard.end();
  }
};

const usage = "usage: node scripts/supervise.mjs [--no-namespace [--if-killed SCRIPT]] PROGRAM ARGS…\n";
const words = process.argv.slice(2);
const wantsNone = words[0] === "--no-namespace" && words.shift() !== undefined;
const ifKilled = words[0] === "--if-killed" ? words.splice(0, 2)[1] : undefined;
if (words.length === 0) {
  process.stderr.write(usage);
  process.exit(2);
}
process.exit(await supervise(words, { isIsolated: !wantsNone && mayIsolate(), ifKilled }));
