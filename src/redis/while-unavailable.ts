import { setTimeout as sleep } from "node:timers/promises";
import { AppError } from "../errors.ts";

export type Patience = {
  /** Tries at most; left out, as many as the rest allows. */
  tries?: number;
  /** No try begins later than this after the first, ms. */
  withinMs?: number;
  /** Longest time between two tries, ms; the first ones follow after 0.1, 0.2, 0.4 s. */
  maxPauseMs?: number;
  signal?: AbortSignal;
};

/**
 * Repeats `work` while Redis is away; throws its last error when the patience is used up, or the signal's reason. `work`
 * must be safe to repeat.
 */
export const whileUnavailable = async <T>(
  work: () => Promise<T>,
  { tries = Infinity, withinMs = Infinity, maxPauseMs = 5000, signal }: Patience,
): Promise<T> => {
  const beganMs = performance.now();
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const isAway = error instanceof AppError && error.code === "unavailable";
      const pauseMs = Math.min(100 * 2 ** (attempt - 1), maxPauseMs);
      if (!isAway || attempt >= tries || performance.now() - beganMs + pauseMs > withinMs) throw error;
      await sleep(pauseMs, undefined, signal && { signal }).catch(() => signal?.throwIfAborted());
    }
  }
};

/**
 * Gets `work` over a short break, such as a connection that is made again; a longer one is an error in time, so that callers
 * hear of it within 2 s: the last try begins within half a second, and each takes 1.5 s at most.
 */
export const retryBriefly = <T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> =>
  whileUnavailable(work, { withinMs: 500, maxPauseMs: 100, ...(signal && { signal }) });
