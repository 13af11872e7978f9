/**
 * Keeps a program running as long as this process runs: starts it with child-process.ts, asks whether it is ready, and
 * starts it again when it ends.
 *
 *   starting ──(ready)──► running ──(ends by itself)──► waiting ──► running …
 *      │ ends, or not ready in time                        │
 *      ▼                                                   │ stop, in any state
 *   StartError                                             ▼
 *                                                        stopped
 *
 * The first start must succeed. When the program ends later, the same command is started again: first at once, then
 * after a wait that doubles from 1 s to 30 s. The wait is 0 again after the program has run for a minute.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../base/log.ts";
import { type Child, type ChildEnd, type ChildOptions, startChild } from "./child-process.ts";
import { readLogTail, startLog } from "./log-file.ts";

export type SupervisedOptions = Omit<ChildOptions, "parentDeathSignal"> & {
  log: Logger;
  /** True when the program works. May throw for "not yet". Called every 50 ms until it is true. */
  isReady: () => Promise<boolean>;
  readyWithinMs: number;
  /** Time from SIGTERM to SIGKILL, ms. */
  stopGraceMs: number;
  /** Aborts the start. It has no effect afterwards. */
  signal?: AbortSignal | undefined;
};

export type SupervisedChild = { stop(): Promise<void> };

/** The program did not become ready. The message names it and its log, and ends with the log's last lines. */
export class StartError extends Error {
  override name = "StartError";
}

const askEveryMs = 50;
const firstWaitMs = 1000;
const lastWaitMs = 30_000;
const repairedAfterMs = 60_000;

const startError = async (options: SupervisedOptions, what: string): Promise<StartError> =>
  new StartError(`${options.name} ${what}; the end of ${options.logPath}:\n${await readLogTail(options.logPath)}`);

const waitUntilReady = async (options: SupervisedOptions, child: Child): Promise<void> => {
  const deadline = AbortSignal.timeout(options.readyWithinMs);
  let end: ChildEnd | undefined;
  void child.ended.then((childEnd) => {
    end = childEnd;
  });
  for (;;) {
    if (await options.isReady().catch(() => false)) return;
    options.signal?.throwIfAborted();
    if (end) throw await startError(options, `ended with exit code ${end.exitCode} before it was ready`);
    if (deadline.aborted) throw await startError(options, `was not ready within ${options.readyWithinMs / 1000} s`);
    await sleep(askEveryMs);
  }
};

/** Starts with an empty log. When the program does not become ready, ends it and rejects with a `StartError`. */
export const superviseChild = async (options: SupervisedOptions): Promise<SupervisedChild> => {
  const { name, log, logPath, stopGraceMs } = options;
  const stopping = new AbortController();
  const start = (): Promise<Child> => startChild({ ...options, parentDeathSignal: "KILL" });
  const startAgain = (): Promise<Child | undefined> =>
    start().catch((err: unknown) => {
      log.error({ err, program: name }, "a program could not be started again");
      return undefined;
    });

  await startLog(logPath);
  let child: Child | undefined = await start();
  try {
    await waitUntilReady(options, child);
  } catch (error) {
    await child.stop(stopGraceMs);
    throw error;
  }

  const repair = async (): Promise<void> => {
    let waitMs = 0;
    while (!stopping.signal.aborted) {
      const sinceMs = performance.now();
      const end = await child?.ended;
      child = undefined;
      if (stopping.signal.aborted) return;
      if (performance.now() - sinceMs > repairedAfterMs) waitMs = 0;
      log.warn({ program: name, exitCode: end?.exitCode, logPath, waitMs }, "a program ended; starting it again");
      await sleep(waitMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      waitMs = Math.min(Math.max(waitMs * 2, firstWaitMs), lastWaitMs);
      if (!stopping.signal.aborted) child = await startAgain();
    }
  };
  const repairing = repair();

  return {
    async stop() {
      stopping.abort();
      await child?.stop(stopGraceMs);
      await repairing;
      // A restart may have been under way when `stop` was called.
      await child?.stop(stopGraceMs);
    },
  };
};
