/** One process with its minder (minder.pl), from its start to its end. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { CallRefused } from "../../../core/agent/call-routes.ts";
import { eachLine } from "../../../platform/process/group-process.ts";
import { signalGroup } from "../../../platform/process/process-groups.ts";
import { lacksNamespaces } from "../../code/agent/apart.ts";
import type { OutputStream } from "./output-ring.ts";
import type { ProcessCommand } from "./process-command.ts";
import { readThrottled } from "./read-throttled.ts";

/** Time until its program runs, ms: 60 ms on a quiet machine. */
const startMs = 15_000;

/** Input that waits to be read, bytes. */
const mostWaitingBytes = 256 * 1024;

/** What is kept of what its minder says on its standard error before the program runs, characters. */
const stderrChars = 4000;

const ordersFd = 3;
const reportsFd = 4;

/** `args`: undefined for a command of the shell. `tty`: the size of its terminal; undefined, it has none. */
export type ProcessOrder = {
  command: string;
  args: readonly string[] | undefined;
  cwd: string | undefined;
  env: Readonly<Record<string, string>>;
  tty: { cols: number; rows: number } | undefined;
};

export type MindedProcess = {
  /** Its number among its own processes. */
  pid: number;
  /** The number of its minder's leader, whose descendants it and all that it starts are. */
  group: number;
  /** Resolves with its exit code when nothing of it is left and its output was read. Never rejects. */
  ended: Promise<number>;
  /** Throws a `CallRefused` when it does not read what it has got. */
  write(bytes: Buffer): void;
  resize(size: { cols: number; rows: number }): void;
  signal(name: string): void;
  /** Kills it, with all that it has started. */
  end(): void;
};

type StartDeps = {
  command: ProcessCommand;
  /** Takes what it writes, and says whether more is wanted at once. */
  onOutput(stream: OutputStream, bytes: Buffer): void;
  hasInput: boolean;
};

const startLine = ({ command, args, cwd, env, tty }: ProcessOrder, { seenAt, env: usual }: ProcessCommand): Buffer => {
  const program = args === undefined ? ["sh", "-c", command] : [command, ...args];
  const variables = { ...usual, ...(tty && { TERM: "xterm-256color" }), ...env };
  const folder = cwd === undefined ? (usual.HOME ?? "/") : seenAt(cwd);
  const texts = [folder, ...program, ...Object.entries(variables).map(([name, value]) => `${name}=${value}`)];
  const bytes = Buffer.from(texts.map((text) => `${text}\0`).join(""));
  const { cols, rows } = tty ?? { cols: 0, rows: 0 };
  return Buffer.concat([
    Buffer.from(`start ${tty ? 1 : 0} ${cols} ${rows} ${program.length} ${bytes.length}\n`),
    bytes,
  ]);
};

const apartMissing = "this browser's machine can't keep a process apart";

/** Why it did not start, as its minder or a program before that says it. */
const whyNot = (report: string, stderr: string): Error => {
  const [, what, message] = /^refused (cwd|program) (.*)$/.exec(report) ?? [];
  if (what !== undefined)
    return new CallRefused("bad_request", `${what === "cwd" ? "cwd" : "command"}: ${message?.slice(0, 200)}`);
  const [, lacks] = /^lacks (.*)$/.exec(report) ?? [];
  if (lacks?.startsWith("room")) return new CallRefused("conflict", `the folder of files is too full: ${lacks}`);
  if (lacks !== undefined) return new CallRefused("not_supported_here", `${apartMissing}: ${lacks}`);
  if (lacksNamespaces(stderr))
    return new CallRefused("not_supported_here", `${apartMissing}: it lets nobody make namespaces`);
  return new Error(`a process did not start: ${stderr.slice(-500)}`);
};

/** `report`: resolves with the first one. `code`: that of the last. */
type Reports = { report: Promise<string>; code(): number | undefined };

const readReports = (stream: Readable): Reports => {
  const { promise, resolve } = Promise.withResolvers<string>();
  let code: number | undefined;
  eachLine(stream, 1000, (line) => {
    const [, told] = /^exit (\d{1,3})$/.exec(line) ?? [];
    if (told !== undefined) code = Number(told) & 255;
    resolve(line);
  });
  stream.on("error", () => undefined);
  return { report: promise, code: () => code };
};

const endOf = (child: ChildProcess): (() => void) => {
  const group = child.pid;
  return () => {
    // Its number may be another group's by now.
    if (group === undefined || child.exitCode !== null || child.signalCode !== null) return;
    signalGroup(group, "SIGKILL");
  };
};

const sigKill = 128 + 9;

/** Waits for its first report, or its end before that. */
const whenStarted = async (report: Promise<string>, ended: Promise<unknown>, stderr: () => string): Promise<number> => {
  const stop = new AbortController();
  try {
    const late = sleep(startMs, "late", { signal: stop.signal }).catch(() => "late");
    const said = await Promise.race([report, ended.then(() => ""), late]);
    const [, pid] = /^started (\d+)$/.exec(said) ?? [];
    if (pid !== undefined) return Number(pid);
    throw said === "late" ? new Error(`a process did not start within ${startMs / 1000} s`) : whyNot(said, stderr());
  } finally {
    stop.abort();
  }
};

/** Starts one; an abort of `signal` kills it at any time. Throws a `CallRefused` for what can't be started. */
export const startProcess = async (
  order: ProcessOrder,
  { command, onOutput, hasInput }: StartDeps,
  signal: AbortSignal,
): Promise<MindedProcess> => {
  await mkdir(command.workDir, { recursive: true, mode: 0o700 });
  signal.throwIfAborted();
  const child = spawn(command.program, command.args, {
    ...{ detached: true, env: {}, cwd: "/" },
    stdio: [hasInput ? "pipe" : "ignore", "pipe", "pipe", "pipe", "pipe"],
  });
  const end = endOf(child);
  signal.addEventListener("abort", end, { once: true });
  let stderr = "";
  let isStarted = false;
  readThrottled(child.stdout as Readable, (bytes) => onOutput("stdout", bytes));
  readThrottled(child.stderr as Readable, (bytes) => {
    if (isStarted) onOutput("stderr", bytes);
    else stderr = (stderr + bytes.toString("latin1")).slice(-stderrChars);
  });
  const orders = child.stdio[ordersFd] as Writable;
  const { report, code } = readReports(child.stdio[reportsFd] as Readable);
  for (const stream of [orders, child.stdin]) stream?.on("error", () => undefined);
  // Its first output may overtake the report that it has started.
  void report.then((line) => {
    isStarted = line.startsWith("started ");
    if (isStarted && stderr !== "") onOutput("stderr", Buffer.from(stderr, "latin1"));
  });
  const closed = once(child, "close").catch(() => undefined);
  const ended = closed.then(() => {
    signal.removeEventListener("abort", end);
    return code() ?? sigKill;
  });
  orders.write(startLine(order, command));
  const pid = await whenStarted(report, closed, () => stderr).catch((error: unknown) => {
    end();
    signal.throwIfAborted();
    throw error;
  });
  return {
    ...{ pid, group: child.pid ?? 0, ended, end },
    write(bytes) {
      const { stdin } = child;
      if (!stdin?.writable) throw new CallRefused("conflict", "the process has ended");
      if (stdin.writableLength + bytes.length > mostWaitingBytes)
        throw new CallRefused("conflict", `the process has not read the last ${stdin.writableLength} bytes`);
      stdin.write(bytes);
    },
    resize: ({ cols, rows }) => void orders.write(`resize ${cols} ${rows}\n`),
    signal: (name) => void orders.write(`signal ${name}\n`),
  };
};
