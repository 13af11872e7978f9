import { awaitWith } from "../../platform/base/retry.ts";

/** So many may do something at once; the others wait in order. */
export type Slots = {
  /** Resolves when there is room. Rejects with the reason of `signal`. Who has entered must leave. */
  enter(signal: AbortSignal): Promise<void>;
  leave(): void;
};

/** `most`: at once. */
export const createSlots = (most: number): Slots => {
  let used = 0;
  const waiting = new Set<PromiseWithResolvers<void>>();
  const leave = (): void => {
    const [next] = waiting;
    if (!next) {
      used -= 1;
      return;
    }
    waiting.delete(next);
    next.resolve();
  };
  return {
    async enter(signal) {
      signal.throwIfAborted();
      if (used < most) {
        used += 1;
        return;
      }
      const turn = Promise.withResolvers<void>();
      waiting.add(turn);
      try {
        await awaitWith(turn.promise, signal);
      } catch (error) {
        // Its turn may have come in the same moment.
        if (!waiting.delete(turn)) leave();
        throw error;
      }
    },
    leave,
  };
};
