/**
 * A child of local mode: starts a long-running program in a process group of its own, so that a terminal's Ctrl-C
 * reaches only this process, which then ends the child in order. Every living child is in the process register, in case
 * this process is killed before it can end its children.
 *
 * supervised-child.ts adds readiness and restarts. group-process.ts serves the agent and differs: it reads the
 * program's output through pipes, keeps no log, and ends the group when the agent says so. Here the output goes to a
 * log file, and the group ends with its leader. Both record groups with process-groups.ts.
 */
import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { open } from "node:fs/promises";
import { constants } from "node:os";
import { keepLogBounded, readLogTail } from "./log-file.ts";
import { endGroup, forgetProcess, registerProcess, signalGroup } from "./process-groups.ts";

export type ChildOptions = {
  dataDir: string;
  /** Name of the entry in the process register; unique among the living children of one data directory. */
  name: string;
  command: readonly [program: string, ...args: string[]];
  /** The whole environment; nothing is inherited. */
  env: Record<string, string>;
  cwd: string;
  /** Receives stdout and stderr; readable by this user only, bounded. */
  logPath: string;
  /** The signal that the kernel sends to the child when this process dies first. */
  parentDeathSignal: "KILL" | "INT";
};

export type ChildEnd = {
  /** As a container runtime reports it: 128 + the signal's number when a signal ended the child. */
  exitCode: number;
  /** The last lines of its log. */
  logTail: string;
};

export type Child = {
  pid: number;
  /** Resolves when the process and every other member of its group have ended. Never rejects. */
  ended: Promise<ChildEnd>;
  /**
   * Sends `signal` (default SIGTERM) to the process, and SIGKILL to its group after `graceMs`. Resolves when the
   * process has ended. A later call can only shorten the grace.
   */
  stop(graceMs: number, signal?: "SIGTERM" | "SIGINT"): Promise<ChildEnd>;
};

/** Part of util-linux. Without it a child of a killed parent lives until the next start on the same data directory. */
const setpriv = "/usr/bin/setpriv";

const withParentDeathSignal = ({ command, parentDeathSignal }: ChildOptions): readonly [string, ...string[]] =>
  existsSync(setpriv) ? [setpriv, "--pdeathsig", parentDeathSignal, "--", ...command] : command;

const exitCodeOf = (code: number | null, signal: NodeJS.Signals | null): number =>
  code ?? 128 + (signal ? constants.signals[signal] : 0);

type Spawned = { child: ChildProcess; pid: number; exited: Promise<number> };

/**
 * Resolves with the exit code when no process of the group runs any more. Call it before the first await: a program may
 * end at once.
 */
const watchExit = (child: ChildProcess): Promise<number> =>
  new Promise((resolve) => {
    child.once("exit", (code, signal) => {
      // Signal the group at once, before its number can belong to another group.
      const groupEnded = child.pid ? endGroup(child.pid, 0) : Promise.resolve();
      void groupEnded.finally(() => resolve(exitCodeOf(code, signal)));
    });
  });

const spawnInto = async (options: ChildOptions): Promise<Spawned> => {
  const log = await open(options.logPath, "a", 0o600);
  try {
    const [program, ...args] = withParentDeathSignal(options);
    const stdio: StdioOptions = ["ignore", log.fd, log.fd];
    const child = spawn(program, args, { cwd: options.cwd, env: options.env, detached: true, stdio });
    const exited = watchExit(child);
    await once(child, "spawn");
    if (!child.pid) throw new Error(`${program} was started without a process id`);
    return { child, pid: child.pid, exited };
  } finally {
    await log.close();
  }
};

/** Resolves when the process runs and is registered; rejects when it can't be started. Appends to the log. */
export const startChild = async (options: ChildOptions): Promise<Child> => {
  const { child, pid, exited } = await spawnInto(options);
  const log = keepLogBounded(options.logPath);
  const registered = registerProcess(options.dataDir, options.name, pid);

  const finish = async (): Promise<ChildEnd> => {
    const exitCode = await exited;
    await registered.catch(() => undefined);
    await forgetProcess(options.dataDir, options.name).catch(() => undefined);
    log.stop();
    return { exitCode, logTail: await readLogTail(options.logPath) };
  };
  const ended = finish();

  const stop: Child["stop"] = async (graceMs, signal = "SIGTERM") => {
    child.kill(signal);
    const deadline = setTimeout(() => signalGroup(pid, "SIGKILL"), graceMs);
    return ended.finally(() => clearTimeout(deadline));
  };
  try {
    await registered;
  } catch (error) {
    await stop(0);
    throw error;
  }
  return { pid, ended, stop };
};
