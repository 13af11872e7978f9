/** The only place that connects to Redis, be it a single server, Sentinel or Cluster (redis-url.ts). */
import { subscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { Cluster, type ClusterOptions, Redis, type RedisOptions } from "ioredis";
import type { Logger } from "../base/log.ts";
import { type CommandMeter, meterCommands } from "./meter-commands.ts";
import { parseRedisUrl, type RedisAddress } from "./redis-url.ts";

/**
 * The client hears a socket's first error only, and it opens some sockets that nobody else sees. A TLS socket that has
 * refused a certificate may fail once more, with an error that would end the process.
 */
subscribe("net.client.socket", (message) => {
  const { socket } = message as { socket: Socket };
  if (socket instanceof TLSSocket) socket.once("error", () => socket.on("error", () => undefined));
});

/** The rest of the program passes this on without knowing the client library. */
export type RedisConnection = Redis | Cluster;

/** Time within which Redis must answer one command, ms; callers get 503 within 2 s of an outage. */
const commandTimeoutMs = 1500;
const connectTimeoutMs = 1500;

/**
 * A connection without any answer for this long, ms, is closed and made again: its route to the server may be dead for
 * good.
 */
const silenceMs = 2000;

/**
 * A connection that owes no answer, such as a subscription, is probed by TCP after this, ms, and closed ten seconds
 * later.
 */
const keepAliveMs = 10_000;

/** How often the map of a cluster's slots is read, ms; it is also read when a node redirects a command. */
const slotsRefreshMs = 5000;

/**
 * Time between attempts to connect again, ms: short after a brief break, 1 s at most, so that attempts never pile up.
 */
const retryDelayMs = (attempt: number): number => Math.min(50 * 2 ** Math.min(attempt, 10), 1000);

/**
 * True when the master became a replica: the client then connects again, to the new master, and does not resend the
 * command.
 */
const isDemoted = (error: Error): boolean => error.message.startsWith("READONLY");

/**
 * The client neither queues commands while disconnected nor resends them, so a command runs at most once and an outage
 * is an error at once. Callers may repeat a script because scripts are idempotent. The owner of a subscription renews
 * it.
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
    keepAlive: keepAliveMs,
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
  // The client listens to the Sentinels' failover messages, so it leaves an unreachable master at once.
  failoverDetector: true,
  ...(isTls && { sentinelTLS: {}, enableTLSForSentinelMode: true }),
  ...(master?.sentinelLogin.username && { sentinelUsername: master.sentinelLogin.username }),
  ...(master?.sentinelLogin.password && { sentinelPassword: master.sentinelLogin.password }),
});

const clusterOptions = (address: RedisAddress) =>
  ({
    redisOptions: nodeOptions(address),
    clusterRetryStrategy: retryDelayMs,
    // A node keeps its name: its certificate is for the name, and each new connection looks for its present address.
    dnsLookup: (name, done) => done(null, name),
    slotsRefreshTimeout: connectTimeoutMs,
    slotsRefreshInterval: slotsRefreshMs,
    // Commands on a broken connection may have run, so they are not sent again.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    shardedSubscribers: true,
  }) satisfies ClusterOptions;

/**
 * The client connects to a node when the first command needs it. Commands wait for that connection until their
 * time-out. When the whole cluster is away the client would let them wait without a time-out, so this class rejects
 * them.
 */
class CommandCluster extends Cluster {
  override sendCommand(...[command, ...rest]: Parameters<Cluster["sendCommand"]>): unknown {
    const isReadyCheck = command.name === "cluster"; // the client itself asks whether the cluster is ready
    if (this.status === "ready" || isReadyCheck) return super.sendCommand(command, ...rest);
    command.reject(new Error("the cluster is not connected"));
    return command.promise;
  }
}

/**
 * A message about a failover that comes while the client asks a Sentinel for the master ends the client for good: it
 * takes its own break-off for the wish of its owner. This class begins anew unless its owner has closed it.
 */
class SentinelRedis extends Redis {
  #isClosed = false;

  override disconnect(reconnect = false): void {
    this.#isClosed ||= !reconnect;
    super.disconnect(reconnect);
  }

  /** Returns itself. */
  beginAnewWhenEnded(): this {
    return this.on("end", () => {
      if (!this.#isClosed) this.connect().catch(() => undefined);
    });
  }
}

const connect = (address: RedisAddress): RedisConnection => {
  const { kind, nodes } = address;
  if (kind === "cluster") return new CommandCluster(nodes, clusterOptions(address));
  if (kind === "sentinel")
    return new SentinelRedis({ ...serverOptions(address), ...sentinelOptions(address) }).beginAnewWhenEnded();
  return new Redis({ ...serverOptions(address), ...nodes[0] });
};

/** To one server of a cluster, and to the next one whenever the connection breaks. */
const connectToNode = (address: RedisAddress): Redis => {
  const { nodes } = address;
  const redis: Redis = new Redis({
    ...serverOptions(address),
    ...nodes[0],
    retryStrategy(attempt) {
      Object.assign(redis.options, nodes[attempt % nodes.length]);
      return retryDelayMs(attempt);
    },
  });
  return redis;
};

const logged = <T extends RedisConnection>(redis: T, log: Logger): T => {
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

/**
 * Connects in the background. `url` may hold a password and is never logged; throws for a malformed one. Subscriptions
 * need a connection of their own, and their owner renews them at each "ready" (and "subscribersReady" of a cluster).
 * `meter`: told of each command.
 */
export const connectRedis = (url: string, log: Logger, meter?: CommandMeter): RedisConnection => {
  const redis = logged(connect(parseRedisUrl(url)), log);
  return meter ? meterCommands(redis, meter) : redis;
};

/**
 * The same for subscribing to channels that are no shard channels. In a cluster it is a connection to one server, which
 * has the messages of all: the client of a cluster does not tell when it has subscribed at another server.
 */
export const connectSubscriber = (url: string, log: Logger): RedisConnection => {
  const address = parseRedisUrl(url);
  return logged(address.kind === "cluster" ? connectToNode(address) : connect(address), log);
};

/**
 * Resolves when the connection is ready; rejects after `timeoutMs`, or when `signal` is aborted, naming the last error.
 */
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

/** The servers behind a connection that execute commands. */
export const mastersOf = (redis: RedisConnection): Redis[] =>
  redis instanceof Cluster ? redis.nodes("master") : [redis];
