import { Redis } from "ioredis";
import type { Logger } from "../log.ts";

/** What the rest of the program hands around without knowing the client library. */
export type RedisConnection = Redis;

/** Time within which Redis must answer one command, ms; callers get 503 within 2 s of an outage. */
const commandTimeoutMs = 1500;
const connectTimeoutMs = 1500;

/** A connection that answers nothing for so long, ms, is given up and made anew: the way to its server may be gone for good. */
const silenceMs = 2000;

/** Time between attempts to connect again, ms: soon after a hiccup, never a storm. */
const retryDelayMs = (attempt: number): number => Math.min(50 * 2 ** Math.min(attempt, 10), 1000);

/**
 * No queue while disconnected and no resending, so that a command runs at most once and an outage is an error at once;
 * idempotent scripts make the caller's own repetition safe. Subscriptions are renewed by those who have them.
 */
const options = {
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  autoResubscribe: false,
  maxRetriesPerRequest: 0,
  commandTimeout: commandTimeoutMs,
  connectTimeout: connectTimeoutMs,
  socketTimeout: silenceMs,
  retryStrategy: retryDelayMs,
  enableReadyCheck: true,
};

const watchConnection = (redis: Redis, log: Logger): Redis => {
  let up = false;
  redis.on("ready", () => {
    up = true;
    log.info("redis connected");
  });
  redis.on("error", (err: Error & { code?: string }) => {
    if (up) log.warn({ code: err.code, reason: err.message }, "redis connection failed; connecting again");
    up = false;
  });
  return redis;
};

/** Connects in the background; `url` may hold a password and is never logged. */
export const connectRedis = (url: string, log: Logger): RedisConnection =>
  watchConnection(new Redis(url, options), log);

/** A connection for subscriptions only, which their owners renew at each "ready". */
export const connectSubscriber = connectRedis;

/** Resolves when the connection is ready; rejects after `timeoutMs`, naming the last error. */
export const whenReady = async (redis: RedisConnection, timeoutMs: number): Promise<void> => {
  if (redis.status === "ready") return;
  const ready = Promise.withResolvers<void>();
  let last = "no answer";
  const onError = (err: Error): void => {
    last = err.message;
  };
  const timer = setTimeout(() => ready.reject(new Error(`Redis is not ready: ${last}`)), timeoutMs);
  redis.on("error", onError);
  redis.once("ready", () => ready.resolve());
  try {
    await ready.promise;
  } finally {
    clearTimeout(timer);
    redis.off("error", onError);
  }
};
