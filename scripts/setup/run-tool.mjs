import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { SetupError } from "./setup-error.mjs";

/** Lines of a failed tool that are shown; the rest is in the log. */
const shownLines = 15;

/** Output that is kept in memory for `shownLines` and for the caller, bytes; a tool that prints more loses its beginning there. */
const keptBytes = 1024 * 1024;

/** Time for a tool to end by itself after SIGTERM before it is killed, ms; dpkg needs it to leave its database in order. */
const graceMs = 20_000;

/**
 * @typedef {object} ToolCall
 * @property {string} command
 * @property {readonly string[]} args
 * @property {string} [cwd]
 * @property {{ [name: string]: string | undefined }} env the whole environment of the tool
 * @property {string} wayOut what the reader can do when the tool fails
 */

/** Ends a tool and all that it started: it leads its own process group. @param {number} pid @param {NodeJS.Signals} signal */
const signalGroup = (pid, signal) => {
  try {
    process.kill(-pid, signal);
  } catch {
    // ESRCH: ended in this moment
  }
};

/**
 * Stops the tool when `signal` fires; the returned function undoes that.
 * @param {import("node:child_process").ChildProcess} child
 * @param {AbortSignal} signal
 */
const stopOnAbort = (child, signal) => {
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
 * Makes the function that runs every tool of the set-up: its output goes to `logFile`, it ends when `signal` fires.
 * @param {{ logFile: string, signal: AbortSignal }} deps
 */
export const createToolRunner = ({ logFile, signal }) => {
  /**
   * Resolves with stdout (its last MiB) when the tool exits with 0.
   * Rejects with a SetupError when it can't be started or fails, with the signal's reason when it was stopped.
   * @param {ToolCall} call
   * @returns {Promise<string>}
   */
  const run = async ({ command, args, cwd, env, wayOut }) => {
    signal.throwIfAborted();
    appendFileSync(logFile, `\n$ ${[command, ...args].join(" ")}\n`);
    // its own process group, so that a stop reaches grandchildren (compilers, dpkg) too
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
    const release = stopOnAbort(child, signal);
    const ended = await new Promise((resolve) => {
      child.once("error", (cause) => resolve({ outcome: `could not be started: ${cause.message}`, cause }));
      child.once("close", (code, by) => resolve({ code, outcome: by ? `ended by ${by}` : `exit code ${code}` }));
    });
    release();
    signal.throwIfAborted();
    if (ended.code === 0) return stdout;
    const logTail = all.trimEnd().split("\n").slice(-shownLines).filter(Boolean);
    throw new SetupError(`${command} ${args[0] ?? ""}: ${ended.outcome}`, { wayOut, logTail, cause: ended.cause });
  };
  return run;
};

/** @typedef {ReturnType<typeof createToolRunner>} RunTool */
