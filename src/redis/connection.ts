/** The one door to Redis, whichever way it is run: a single server, Sentinel or Cluster (redis-url.ts). */
import { Cluster, type ClusterOptions, Redis, type RedisOptions } from "ioredis";
import type { Logger } from "../log.ts";
import { parseRedisUrl, type RedisAddress } from "./redis-url.ts";

/** What the rest of the program hands around without knowing the client library. */
export type RedisConnection = Redis | Cluster;

/** Time within which Redis must answer one command, ms; callers get 503 within 2 s of an outage. */
const commandTimeoutMs = 1500;
const connectTimeoutMs = 1500;

/** A connection that answers nothing for so long, ms, is given up and made anew: the way to its server may be gone for good. */
const silenceMs = 2000;

/** How often the map of a cluster's slots is read, ms; it is also read when a command is sent elsewhere. */
const slotsRefreshMs = 5000;

/** Time between attempts to connect again, ms: soon after a hiccup, never a storm. */
const retryDelayMs = (attempt: number): number => Math.min(50 * 2 ** Math.min(attempt, 10), 1000);

/** A master that became a replica: look for the new one. True: connect again, without sending the command again. */
const isDemoted = (error: Error): boolean => error.message.startsWith("READONLY");

/**
 * No queue while disconnected and no resending, so that a command runs at most once and an outage is an error at once;
 * idempotent scripts make the caller's own repetition safe. Subscriptions are renewed by those who have them.
 */
const nodeOptions = ({ login, isTls }: RedisAddress) =>
  ({
    ...login,
    ...(isTls && { tls: {} }),
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    commandTimeout: commandTimeoutMs,
    connectTimeout: connectTimeoutMs,
    socketTimeout: silenceMs,
    disableClientInfo: true,
  }) satisfies RedisOptions;

const serverOptions = (address: RedisAddress) =>
  ({
    ...nodeOptions(address),
    db: address.db,
    enableOfflineQueue: false,
    retryStrategy: retryDelayMs,
    reconnectOnError: isDemoted,
  }) satisfies RedisOptions;

const sentinelOptions = ({ nodes, isTls, master }: RedisAddress) => ({
  sentinels: nodes,
  name: master?.name ?? "",
  sentinelRetryStrategy: retryDelayMs,
  sentinelCommandTimeout: commandTimeoutMs,
  // Sentinels tell of a failover, so that a master that nobody can reach is left at once.
  failoverDetector: true,
  ...(isTls && { sentinelTLS: {}, enableTLSForSentinelMode: true }),
  ...(master?.sentinelLogin.username && { sentinelUsername: master.sentinelLogin.username }),
  ...(master?.sentinelLogin.password && { sentinelPassword: master.sentinelLogin.password }),
});

const clusterOptions = (address: RedisAddress) =>
  ({
    redisOptions: nodeOptions(address),
    clusterRetryStrategy: retryDelayMs,
    slotsRefreshTimeout: connectTimeoutMs,
    slotsRefreshInterval: slotsRefreshMs,
    // Commands that were on a broken connection may have run, so they are not sent again.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    shardedSubscribers: true,
  }) satisfies ClusterOptions;

/**
 * Commands may wait for the connection to their node, which is made when the first of them needs it; that ends with their
 * time-out. For a cluster that is away as a whole the client would let them wait without one.
 */
class CommandCluster extends Cluster {
  override sendCommand(...[command, ...rest]: Parameters<Cluster["sendCommand"]>): unknown {
    const isOfItsOwn = command.name === "cluster"; // whether it is ready
    if (this.status === "ready" || isOfItsOwn) return super.sendCommand(command, ...rest);
    command.reject(new Error("the cluster is not connected"));
    return command.promise;
  }
}

const connect = (address: RedisAddress): RedisConnection => {
  const { kind, nodes } = address;
  if (kind === "cluster") return new CommandCluster(nodes, clusterOptions(address));
  if (kind === "sentinel") return new Redis({ ...serverOptions(address), ...sentinelOptions(address) });
  return new Redis({ ...serverOptions(address), ...nodes[0] });
};

/**
 * Connects in the background. `url` may hold a password and is never logged; throws for a malformed one. For subscriptions
 * give a connection of its own; who has them renews them at each "ready" (and "subscribersReady" of a cluster).
 */
export const connectRedis = (url: string, log: Logger): RedisConnection => {
  const redis = connect(parseRedisUrl(url));
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

/** Resolves when the connection is ready; rejects after `timeoutMs`, or when `signal` is aborted, naming the last error. */
export const whenReady = async (redis: RedisConnection, timeoutMs: number, signal?: AbortSignal): Promise<void> => {
  if (redis.status === "ready") return;
  const ready = Promise.withResolvers<void>();
  let last = "no answer";
  const onError = (err: Error & { lastNodeError?: Error }): void => {
    last = (err.lastNodeError ?? err).message;
  };
  const giveUp = (): void => ready.reject(new Error(`Redis is not ready: ${last}`));
  const timer = setTimeout(giveUp, timeoutMs);
  signal?.addEventListener("abort", giveUp);
  if (signal?.aborted) giveUp();
  redis.on("error", onError);
  redis.once("ready", () => ready.resolve());
  try {
    await ready.promise;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", giveUp);
    redis.off("error", onError);
  }
};

/** The servers behind a connection that commands go to. */
export const mastersOf = (redis: RedisConnection): Redis[] =>
  redis instanceof Cluster ? redis.nodes("master") : [redis];
