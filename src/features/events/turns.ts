import { setImmediate as nextTurn } from "node:timers/promises";

/** Longest work before others have their turn, ms. */
const turnMs = 5;

/** Resolves at once, or when others had their turn, if the last time is long ago. */
export type Turns = () => Promise<void>;

/** For all the work that shares it: while one part goes on, the others wait. */
export const createTurns = (): Turns => {
  let sinceMs = performance.now();
  let last: Promise<unknown> = Promise.resolve();
  return async () => {
    if (performance.now() - sinceMs < turnMs) return;
    // One after the other: each begins in a round of the event loop of its own.
    last = last.then(() => nextTurn());
    await last;
    sinceMs = performance.now();
  };
};
