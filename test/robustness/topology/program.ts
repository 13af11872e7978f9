/**
 * A process of the run: started, killed, stopped and continued by the faults, its output in a log file. It dies with
 * the run, also when the run is killed.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { open } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { monotonicMs } from "../history/event-base.ts";
import type { EventOf } from "../history/history.ts";
import type { Recorder } from "../recorder/recorder.ts";

type ProgramOptions = {
  /** Left out: its start and end are no part of the history. */
  role?: EventOf<"process">["role"];
  /** The same after a new start. */
  name: string;
  command: readonly [program: string, ...args: string[]];
  /** The whole environment. */
  env: Record<string, string>;
  cwd: string;
  /** Appended to. */
  logPath: string;
  /** With a channel for messages (Node's processes only). */
  ipc?: boolean;
  recorder: Recorder;
};

export type Program = {
  child: ChildProcess;
  pid: number;
  /** Resolves when it is gone. */
  exited: Promise<unknown>;
  isRunning(): boolean;
  /** Whether its end is no surprise from now on. */
  expectEnd(isExpected: boolean): void;
  kill(signal: "SIGKILL" | "SIGTERM"): void;
  /** SIGSTOP and SIGCONT. */
  freeze(): void;
  thaw(): void;
  /** SIGTERM, SIGKILL after `graceMs`; resolves when it is gone. */
  stop(graceMs: number): Promise<void>;
};

/** Part of util-linux; without it the programs of a killed run live on. */
const setpriv = "/usr/bin/setpriv";

const dyingWithParent = (command: ProgramOptions["command"]): ProgramOptions["command"] =>
  existsSync(setpriv) ? [setpriv, "--pdeathsig", "KILL", "--", ...command] : command;

export const startProgram = async (options: ProgramOptions): Promise<Program> => {
  const { role, name, cwd, env, recorder } = options;
  const log = await open(options.logPath, "a", 0o600);
  const [program, ...args] = dyingWithParent(options.command);
  const stdio = ["ignore", log.fd, log.fd, ...(options.ipc ? (["ipc"] as const) : [])];
  // In a process group of its own: a terminal's Ctrl-C reaches the run alone, which ends its parts in order.
  const child = spawn(program, args, { cwd, env, stdio: stdio as never, detached: true });
  await once(child, "spawn").finally(() => log.close());
  const pid = child.pid ?? 0;
  const note = (what: "start" | "exit", more: object = {}): void => {
    if (role) recorder.write({ kind: "process", at: monotonicMs(), what, role, name, pid, ...more });
  };
  note("start");
  let isExpected = false;
  const exited = once(child, "exit").then(([code, signal]) => note("exit", { code, signal, expected: isExpected }));
  const isRunning = (): boolean => child.exitCode === null && child.signalCode === null;
  const signal = (name: NodeJS.Signals): void => void (isRunning() && child.kill(name));
  return {
    child,
    pid,
    exited,
    isRunning,
    expectEnd(isWanted) {
      isExpected = isWanted;
    },
    kill(name) {
      isExpected = true;
      signal(name);
    },
    freeze: () => signal("SIGSTOP"),
    thaw: () => signal("SIGCONT"),
    async stop(graceMs) {
      isExpected = true;
      signal("SIGCONT");
      signal("SIGTERM");
      const given = new AbortController();
      void sleep(graceMs, undefined, { signal: given.signal }).then(
        () => signal("SIGKILL"),
        () => undefined,
      );
      await exited;
      given.abort();
    },
  };
};
