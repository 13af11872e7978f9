/**
 * The channels on which an API replica receives messages about the pools that it serves.
 *
 *   (none) ──follow: SSUBSCRIBE──► followed ──10 min without a caller: SUNSUBSCRIBE──► (none)
 *                                   │    ▲
 *                                   └────┘ renew: the connection came back, the slot moved, or messages do not arrive
 *
 * The client library does not renew the subscriptions: it would turn a failure into an unhandled rejection, and it
 * would not tell when a subscription is back. At that moment callers must ask for what they missed.
 */
import { z } from "zod";
import type { Logger } from "../../platform/base/log.ts";
import type { RedisConnection } from "../../platform/redis/connection.ts";
import { followChannel } from "../../platform/redis/follow-channel.ts";
import { orUnavailable, whileUnavailable } from "../../platform/redis/or-unavailable.ts";
import { grantsChannel, poolOf, poolsChannel, recheckChannel } from "./pool-keys.ts";

/** `urgent`: a browser waits to be destroyed; else only counts moved. */
export type PoolChange = { poolUid: string; urgent: boolean };

const Message = z.object({ pool: z.string(), urgent: z.boolean() });

/**
 * Calls `onChange` for every pool that a script changed. The operator's resync makes up for messages lost in a
 * reconnect.
 */
export const followPoolChanges = (
  subscriber: RedisConnection,
  onChange: (change: PoolChange) => void,
  log: Logger,
): Promise<void> =>
  followChannel(subscriber, poolsChannel, (text) => {
    try {
      const { pool, urgent } = Message.parse(JSON.parse(text));
      onChange({ poolUid: pool, urgent });
    } catch (err) {
      log.error({ err }, "a change of a pool could not be read");
    }
  });

/** Tries within about a second: a cluster node that has just received a slot may not know it yet. */
const renewTries = 5;

type PoolChannels = {
  /** Resolves when the replica is subscribed to the pool's channels; throws `unavailable`. */
  follow(poolUid: string): Promise<void>;
  /** Subscribes again to a followed pool, then calls `onMissed`. Never rejects. */
  renew(poolUid: string): Promise<void>;
  /** Unsubscribes from pools that no caller has used for `keptMs`. `isUsed`: callers wait in the pool. */
  forgetUnused(keptMs: number, isUsed: (poolUid: string) => boolean): void;
};

type Handlers = {
  /** A message for this replica; may be empty. */
  onMessage(poolUid: string, text: string): void;
  /** Messages may be lost, or the operator says that Redis lost data: the waiting callers must take again. */
  onMissed(poolUid: string): void;
};

type Followed = { subscribed: Promise<void>; usedMs: number };

/**
 * `subscriber`: a connection that nothing else uses. After the SUNSUBSCRIBE from its last sharded channel, the client
 * library (ioredis) drops the messages of all other channels of the connection.
 */
export const openPoolChannels = (
  subscriber: RedisConnection,
  replicaId: string,
  { onMessage, onMissed }: Handlers,
): PoolChannels => {
  const followed = new Map<string, Followed>();
  const channelsOf = (poolUid: string): string[] => [grantsChannel(poolUid, replicaId), recheckChannel(poolUid)];
  const subscribe = async (poolUid: string): Promise<void> => {
    await orUnavailable(subscriber.ssubscribe(...channelsOf(poolUid)));
  };
  const unsubscribe = (poolUid: string): Promise<void> =>
    subscriber.sunsubscribe(...channelsOf(poolUid)).then(
      () => undefined,
      () => undefined,
    );

  const follow = (poolUid: string): Promise<void> => {
    const known = followed.get(poolUid);
    if (known) {
      known.usedMs = performance.now();
      return known.subscribed;
    }
    const entry = { subscribed: subscribe(poolUid), usedMs: performance.now() };
    followed.set(poolUid, entry);
    entry.subscribed.catch(() => {
      if (followed.get(poolUid) === entry) followed.delete(poolUid);
    });
    return entry.subscribed;
  };

  const renew = async (poolUid: string): Promise<void> => {
    if (!followed.has(poolUid)) return;
    // Unsubscribe first: the cluster client keeps its own list of channels, which would grow with every renewal.
    void unsubscribe(poolUid);
    await whileUnavailable(() => subscribe(poolUid), { tries: renewTries }).then(
      () => onMissed(poolUid),
      // The connection has broken again. Its next "ready" or the next check of the waiting callers renews.
      () => undefined,
    );
  };
  const renewAll = (): void => {
    for (const poolUid of followed.keys()) void renew(poolUid);
  };
  subscriber.on("ready", renewAll);
  // Redis Cluster: the client has reconnected its subscribers after it lost a node or slots moved.
  subscriber.on("subscribersReady", renewAll);

  subscriber.on("smessage", (channel: string, text: string) => {
    const poolUid = poolOf(channel);
    if (channel === recheckChannel(poolUid)) onMissed(poolUid);
    else onMessage(poolUid, text);
  });

  return {
    follow,
    renew,
    forgetUnused(keptMs, isUsed) {
      for (const [poolUid, { usedMs }] of followed) {
        if (isUsed(poolUid) || performance.now() - usedMs < keptMs) continue;
        followed.delete(poolUid);
        void unsubscribe(poolUid);
      }
    },
  };
};
