import { setTimeout as sleep } from "node:timers/promises";

/** Settles as `promise` does, or rejects with the signal's reason if `signal` is aborted first. */
export const awaitWith = async <T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> => {
  if (!signal) return promise;
  promise.catch(() => undefined);
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  return Promise.race([promise, aborted.promise]).finally(() => signal.removeEventListener("abort", abort));
};

export type RetryOptions = {
  /** Whether another try can cure this error; any other is thrown at once. */
  isCurable(error: unknown): boolean;
  /** The pause after a failed try, ms; `failures` counts from 1. */
  pauseMs(failures: number): number;
  /** Tries at most; left out, as many as the rest allows. */
  tries?: number;
  /** No try begins later than this after the first, ms. */
  withinMs?: number;
  /** Ends a pause. */
  signal?: AbortSignal | undefined;
  /** What is thrown when `signal` ends a pause: the signal's reason, which is the default, or the last try's error. */
  abortThrows?: "reason" | "last error";
  /** Called before each pause, e.g. to log it. */
  onRetry?(error: unknown, pauseMs: number): void;
};

/** A pause that doubles from `firstMs` up to `maxMs`. */
export const doubling =
  (firstMs: number, maxMs = Infinity) =>
  (failures: number): number =>
    Math.min(firstMs * 2 ** (failures - 1), maxMs);

/**
 * Repeats `work` until it succeeds. Throws the last error when that is not curable or the tries or the time are used
 * up. `work` must be safe to repeat.
 */
export const retry = async <T>(
  work: () => Promise<T>,
  { isCurable, pauseMs, tries = Infinity, withinMs = Infinity, signal, abortThrows = "reason", onRetry }: RetryOptions,
): Promise<T> => {
  const beganMs = performance.now();
  for (let failures = 1; ; failures++) {
    try {
      return await work();
    } catch (error) {
      if (!isCurable(error) || failures >= tries) throw error;
      const waitMs = pauseMs(failures);
      if (performance.now() - beganMs + waitMs > withinMs) throw error;
      onRetry?.(error, waitMs);
      await sleep(waitMs, undefined, signal && { signal }).catch(() => {
        throw abortThrows === "reason" ? signal?.reason : error;
      });
    }
  }
};
