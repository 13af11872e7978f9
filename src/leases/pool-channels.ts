/**
 * The channels on which an API replica hears of the pools that it serves.
 *
 *   (none) ──follow: SSUBSCRIBE──► followed ──10 min without a caller, forget: SUNSUBSCRIBE──► (none)
 *                                   │    ▲
 *                                   └────┘ renew: the connection came back, the slot moved, or messages do not arrive
 *
 * Subscriptions are renewed here and not by the client library: that one would leave a failure to an unhandled rejection,
 * and would not tell when they stand again, which is when callers must ask for what they missed.
 */

import type { RedisConnection } from "../redis/connection.ts";
import { orUnavailable } from "../redis/or-unavailable.ts";
import { whileUnavailable } from "../redis/while-unavailable.ts";
import { grantsChannel, poolOf, recheckChannel } from "./pool-keys.ts";

/** Within about a second; a node of a cluster that has just got a slot may not know it yet. */
const renewTries = 5;

export type PoolChannels = {
  /** Resolves when the pool is followed; throws `unavailable`. */
  follow(poolUid: string): Promise<void>;
  /** Subscribes anew to a pool that is followed, and then tells of `missed`. Never rejects. */
  renew(poolUid: string): Promise<void>;
  /** Forgets pools that no caller came to for so long, ms; `isUsed`: callers wait in it. */
  forgetUnused(keptMs: number, isUsed: (poolUid: string) => boolean): void;
};

type Heard = {
  /** A message for this replica; may be empty. */
  onMessage(poolUid: string, text: string): void;
  /** Messages may have been missed, or the operator says that Redis lost data: who waits must ask again. */
  onMissed(poolUid: string): void;
};

type Followed = { standing: Promise<void>; usedMs: number };

/** `subscriber`: a connection of its own. */
export const openPoolChannels = (
  subscriber: RedisConnection,
  replicaId: string,
  { onMessage, onMissed }: Heard,
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
      return known.standing;
    }
    const entry = { standing: subscribe(poolUid), usedMs: performance.now() };
    followed.set(poolUid, entry);
    entry.standing.catch(() => {
      if (followed.get(poolUid) === entry) followed.delete(poolUid);
    });
    return entry.standing;
  };

  const renew = async (poolUid: string): Promise<void> => {
    if (!followed.has(poolUid)) return;
    // First out of it: the cluster client keeps a list of its own, which would grow with every repetition.
    void unsubscribe(poolUid);
    await whileUnavailable(() => subscribe(poolUid), { tries: renewTries }).then(
      () => onMissed(poolUid),
      // The connection is gone again, whose return renews it, or the next check of the waiting callers does.
      () => undefined,
    );
  };
  const renewAll = (): void => {
    for (const poolUid of followed.keys()) void renew(poolUid);
  };
  subscriber.on("ready", renewAll);
  // Redis Cluster: the connections to its nodes were put in order again after one was lost or slots moved.
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
