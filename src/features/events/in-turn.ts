/**
 * Works that take time, one batch after the other: an older state of an object never overtakes a newer one. What has
 * changed again before its turn is worked on once, in its latest state.
 */
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";

type Options<T> = {
  /** Most objects that wait. */
  most: number;
  /** Most objects of a batch. */
  atOnce: number;
  /** Time between two batches, ms. */
  pauseMs: number;
  /** The state of an object that has changed again before its turn. */
  merge(before: T, after: T): T;
  /** Resolves with what becomes of the batch, which is done unless all was forgotten meanwhile. */
  work(batch: T[]): Promise<() => void>;
  /** What waited is forgotten: too much did, or the work failed. */
  onLost(cause: unknown): void;
};

type InTurn<T> = {
  add(key: string, change: T): void;
  /** Forgets what waits, and what becomes of the batch that is worked on. */
  forget(): void;
};

/** Does nothing before `add`. */
export const createInTurn = <T>({ most, atOnce, pauseMs, merge, work, onLost }: Options<T>): InTurn<T> => {
  let waiting = new Map<string, T>();
  let isWorking = false;
  const forget = (): void => {
    waiting = new Map();
  };
  const takeBatch = (): T[] => {
    const batch = [...waiting.entries().take(atOnce)];
    for (const [key] of batch) waiting.delete(key);
    return batch.map(([, change]) => change);
  };
  const step = async (): Promise<void> => {
    const of = waiting;
    try {
      const finish = await work(takeBatch());
      if (of === waiting) finish();
    } catch (error) {
      if (of !== waiting) return;
      forget();
      onLost(error);
    }
  };
  const run = async (): Promise<void> => {
    if (isWorking) return;
    isWorking = true;
    while (waiting.size > 0) {
      await step();
      await (pauseMs > 0 ? sleep(pauseMs, undefined, { ref: false }) : nextTurn());
    }
    isWorking = false;
  };
  return {
    add(key, change) {
      const before = waiting.get(key);
      waiting.set(key, before === undefined ? change : merge(before, change));
      if (waiting.size <= most) return void run();
      forget();
      onLost(new Error(`more than ${most} changes wait`));
    },
    forget,
  };
};
