import { AppError, unavailable } from "../base/errors.ts";

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

/** When to repeat what a full Redis refused, s: the operator makes room within a few seconds (controllers/browser-pool/ended). */
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
