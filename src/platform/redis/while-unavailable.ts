import { AppError } from "../base/errors.ts";
import { doubling, type RetryOptions, retry } from "../base/retry.ts";

type Patience = Pick<RetryOptions, "tries" | "withinMs" | "signal"> & {
  /** Longest time between two tries, ms; the first ones follow after 0.1, 0.2, 0.4 s. */
  maxPauseMs?: number;
};

const isAway = (error: unknown): boolean => error instanceof AppError && error.code === "unavailable";

/**
 * Repeats `work` while Redis is away; throws its last error when the patience is used up, or the signal's reason. `work`
 * must be safe to repeat.
 */
export const whileUnavailable = <T>(work: () => Promise<T>, { maxPauseMs = 5000, ...limits }: Patience): Promise<T> =>
  retry(work, { ...limits, isCurable: isAway, pauseMs: doubling(100, maxPauseMs) });

/**
 * Repeats `work` through a short outage, such as a connection that is made again. A longer outage is an error that callers get
 * within 2 s: the last try begins within half a second, and each takes 1.5 s at most.
 */
export const retryBriefly = <T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> =>
  whileUnavailable(work, { withinMs: 500, maxPauseMs: 100, signal });
