import { awaitWith } from "./retry.ts";

/** Bounds how many do something at once; the others wait in the order in which they came. */
export type Semaphore = {
  /**
   * Resolves with the function that makes room for the next one; more calls of it do nothing. Rejects with the reason
   * of `signal`.
   */
  acquire(signal: AbortSignal): Promise<() => void>;
};

/** `most`: at once, 1 or more. */
export const createSemaphore = (most: number): Semaphore => {
  let free = most;
  const waiting = new Set<PromiseWithResolvers<void>>();
  const releaseOnce = (): (() => void) => {
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const [next] = waiting;
      if (next) {
        waiting.delete(next);
        next.resolve();
      } else free += 1;
    };
  };
  return {
    async acquire(signal) {
      signal.throwIfAborted();
      if (free > 0) {
        free -= 1;
        return releaseOnce();
      }
      const turn = Promise.withResolvers<void>();
      waiting.add(turn);
      try {
        await awaitWith(turn.promise, signal);
      } catch (error) {
        // Its turn may have come in the same moment.
        if (!waiting.delete(turn)) releaseOnce()();
        throw error;
      }
      return releaseOnce();
    },
  };
};
