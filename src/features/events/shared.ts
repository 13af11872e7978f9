import { setTimeout as sleep } from "node:timers/promises";

/**
 * Makes a thing at most once in `everyMs`: at once after a pause that long, else when the time is over, one for all who
 * wait by then. So none gets a thing that is older than its wish.
 */
export const createShared = <T>(everyMs: number, make: () => T): (() => Promise<T>) => {
  let madeMs = Number.NEGATIVE_INFINITY;
  let next: Promise<T> | undefined;
  const makeNow = (): T => {
    next = undefined;
    madeMs = performance.now();
    return make();
  };
  return async () => {
    const waitMs = madeMs + everyMs - performance.now();
    if (!next && waitMs <= 0) return makeNow();
    next ??= sleep(waitMs, undefined, { ref: false }).then(makeNow);
    return next;
  };
};
