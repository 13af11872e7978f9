import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { SetupError } from "./setup-error.mjs";

/** Lines of a failed tool's output that are printed; the log has the rest. */
const shownLines = 15;

/**
 * Output to keep in memory for the caller and for `shownLines`, bytes; the beginning of longer output is dropped from
 * memory.
 */
const keptBytes = 1024 * 1024;

/** Time between SIGTERM and SIGKILL, ms. npm goes on after the former until it is through with its packages. */
const usualGraceMs = 1_000;

/**
 * @typedef {object} ToolCall
 * @property {string} command
 * @property {readonly string[]} args
 * @property {string} [cwd]
 * @property {{ [name: string]: string | undefined }} env the whole environment of the tool
 * @property {string} wayOut what the reader can do when the tool fails
 * @property {number} [graceMs] time that the tool needs to end in good order; left out, a second
 */

/**
 * Signals a tool and all its children: the tool leads its own process group. @param {number} pid @param
 * {NodeJS.Signals} signal
 */
const signalGroup = (pid, signal) => {
  try {
    process.kill(-pid, signal);
  } catch {
    // ESRCH: it has just ended.
  }
};

/**
 * Stops the tool when `signal` fires. Returns a function that undoes this.
 * @param {import("node:child_process").ChildProcess} child
 * @param {AbortSignal} signal
 * @param {number} graceMs
 */
const stopOnAbort = (child, signal, graceMs) => {
  /** @type {NodeJS.Timeout | undefined} */
  let killTimer;
  const stop = () => {
    const { pid } = child;
    if (pid === undefined) return;
    signalGroup(pid, "SIGTERM");
    killTimer = setTimeout(() => signalGroup(pid, "SIGKILL"), graceMs);
  };
  signal.addEventListener("abort", stop, { once: true });
  return () => {
    clearTimeout(killTimer);
    signal.removeEventListener("abort", stop);
  };
};

/**
 * Makes the function that runs the set-up's tools. Their output goes to `logFile`; `signal` stops them.
 * @param {{ logFile: string, signal: AbortSignal }} deps
 */
export const createToolRunner = ({ logFile, signal }) => {
  /**
   * Resolves with stdout (its last MiB) when the tool exits with 0.
   * Rejects with a SetupError when the tool can't be started or fails, and with the signal's reason when it was stopped.
   * @param {ToolCall} call
   * @returns {Promise<string>}
   */
  const run = async ({ command, args, cwd, env, wayOut, graceMs = usualGraceMs }) => {
    signal.throwIfAborted();
    appendFileSync(logFile, `\n$ ${[command, ...args].join(" ")}\n`);
    // A process group of its own, so that a stop also reaches grandchildren (compilers, dpkg).
    const child = spawn(command, args, { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    let stdout = "";
    let all = "";
    child.stdout.setEncoding("utf8").on("data", (text) => {
      stdout = (stdout + text).slice(-keptBytes);
    });
    for (const stream of [child.stdout, child.stderr.setEncoding("utf8")])
      stream.on("data", (text) => {
        all = (all + text).slice(-keptBytes);
        appendFileSync(logFile, text);
      });
    const release = stopOnAbort(child, signal, graceMs);
    const ended = await new Promise((resolve) => {
      child.once("error", (cause) => resolve({ outcome: `could not be started: ${cause.message}`, cause }));
      child.once("close", (code, by) => resolve({ code, outcome: by ? `ended by ${by}` : `exit code ${code}` }));
    });
    release();
    signal.throwIfAborted();
    if (ended.code === 0) return stdout;
    const logTail = all.trimEnd().split("\n").slice(-shownLines).filter(Boolean);
    throw new SetupError(`${command} ${args[0] ?? ""}: ${ended.outcome}`, {
      wayOut,
      logTail,
      logFile,
      cause: ended.cause,
    });
  };
  return run;
};

/** @typedef {ReturnType<typeof createToolRunner>} RunTool */
