import { AppError, unavailable } from "../base/errors.ts";
import { doubling, type RetryOptions, retry } from "../base/retry.ts";

/** Error replies of a Redis that answers but can't serve now. */
const outageReplies = [
  "LOADING",
  "READONLY",
  "MASTERDOWN",
  "NOREPLICAS",
  "CLUSTERDOWN",
  "MOVED",
  "ASK",
  "TRYAGAIN",
  "MISCONF",
  "UNKILLABLE",
  "BUSY",
];

/**
 * When to repeat what a full Redis refused, s: the operator makes room within a few seconds
 * (keep-ended-bounds.ts).
 */
const fullRetrySeconds = 2;

/** Redis refuses everything that needs room. What ends or frees something goes on, and no lease is lost. */
const full = (cause: Error): AppError =>
  new AppError("unavailable", "Redis has no room for anything new now; repeat the request", {
    cause,
    retryAfterSeconds: fullRetrySeconds,
    details: [{ code: "redis_full", message: "the memory of Redis is full" }],
  });

const classify = (error: unknown): unknown => {
  if (error instanceof AppError || !(error instanceof Error)) return error;
  if (error.message.startsWith("OOM ")) return full(error);
  const isRefusal = error.name === "ReplyError" && !outageReplies.includes(error.message.split(" ", 1)[0] ?? "");
  return isRefusal ? error : unavailable("Redis", error);
};

/** Awaits a command. Turns the error of an outage into `unavailable`. */
export const orUnavailable = async <T>(command: Promise<T>): Promise<T> => {
  try {
    return await command;
  } catch (error) {
    throw classify(error);
  }
};

type Patience = Pick<RetryOptions, "tries" | "withinMs" | "signal"> & {
  /** Longest time between two tries, ms; the first ones follow after 0.1, 0.2, 0.4 s. */
  maxPauseMs?: number;
};

const isAway = (error: unknown): boolean => error instanceof AppError && error.code === "unavailable";

/**
 * Repeats `work` while Redis is away; throws its last error when the patience is used up, or the signal's reason.
 * `work` must be safe to repeat.
 */
export const whileUnavailable = <T>(work: () => Promise<T>, { maxPauseMs = 5000, ...limits }: Patience): Promise<T> =>
  retry(work, { ...limits, isCurable: isAway, pauseMs: doubling(100, maxPauseMs) });

/**
 * Repeats `work` through a short outage, such as a connection that is made again. A longer outage is an error that
 * callers get within 2 s: the last try begins within half a second, and each takes 1.5 s at most.
 */
export const retryBriefly = <T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> =>
  whileUnavailable(work, { withinMs: 500, maxPauseMs: 100, signal });
