import { setTimeout as sleep } from "node:timers/promises";
import { AppError } from "../errors.ts";

/** Longest time between two tries, ms. */
const maxPauseMs = 5000;

/**
 * Repeats `work` while Redis is away, with 0.1 s between the first tries and up to 5 s between later ones; throws its
 * last error after so many `tries`, or the signal's reason. `work` must be safe to repeat.
 */
export const whileUnavailable = async <T>(
  work: () => Promise<T>,
  { tries, signal }: { tries: number; signal?: AbortSignal },
): Promise<T> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const isAway = error instanceof AppError && error.code === "unavailable";
      if (!isAway || attempt >= tries) throw error;
      const pauseMs = Math.min(100 * 2 ** (attempt - 1), maxPauseMs);
      await sleep(pauseMs, undefined, signal && { signal }).catch(() => signal?.throwIfAborted());
    }
  }
};
