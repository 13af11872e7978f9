/** Carries out the faults of a plan, each at its time, and writes down when it began and ended. */
import { setTimeout as sleep } from "node:timers/promises";
import { allFaults } from "./faults/all-faults.ts";
import { monotonicMs } from "./history/event-base.ts";
import type { Pools } from "./pools.ts";
import type { Random } from "./random.ts";
import type { Recorder } from "./recorder/recorder.ts";
import type { PlannedFault } from "./schedule.ts";
import type { Topology } from "./topology.ts";

type FaultRun = {
  topology: Topology;
  pools: Pools;
  random: Random;
  recorder: Recorder;
  /** Faults end early, none begins any more. */
  signal: AbortSignal;
};

/** Resolves when the last fault has ended; rejects when one could not be caused or undone. */
export const injectFaults = async (faults: PlannedFault[], run: FaultRun): Promise<void> => {
  const { signal, recorder } = run;
  const pause = async (ms: number): Promise<void> => {
    await sleep(ms, undefined, { signal }).catch(() => undefined);
  };
  const busy = new Map<string, Promise<unknown>>();

  const inject = async ({ fault: name, atMs, lengthMs }: PlannedFault, index: number): Promise<void> => {
    await pause(atMs);
    const { parts, run: cause } = allFaults[name];
    // A fault may take longer than was drawn; another one of the same part waits for it.
    const before = parts.map((part) => busy.get(part));
    const done = Promise.withResolvers<void>();
    for (const part of parts) busy.set(part, done.promise);
    await Promise.all(before);
    try {
      if (signal.aborted) return;
      const note = (phase: "begin" | "end", details?: Record<string, unknown>): void =>
        recorder.write({
          kind: "fault",
          at: monotonicMs(),
          phase,
          id: `${index}`,
          fault: name,
          ...(details && { details }),
        });
      let isOver = false;
      const over = (details?: Record<string, unknown>): void => {
        if (!isOver) note("end", details);
        isOver = true;
      };
      await cause({
        topology: run.topology,
        pools: run.pools,
        random: run.random.fork(index),
        hold: () => pause(lengthMs),
        pause,
        begin: (details) => note("begin", details),
        over,
      });
      over();
    } catch (cause) {
      throw new Error(`the fault ${name} could not be carried out`, { cause });
    } finally {
      done.resolve();
    }
  };
  await Promise.all(faults.map(inject));
};
