/**
 * The keys of one pool. All share the hash tag `{<pool uid>}`, so that a pool lives in one slot of a Redis Cluster, and
 * all begin with `bp:`, so that an ACL can name them. Every script gets all ten in this order
 * (scripts/includes/keys.lua).
 *
 *   pool      hash    epoch, ticket (the highest), idle_order (counter), unpaced (starts left),
 *                     discarded (token of the last discard), draining, recovering (when it began, ms),
 *                     server (run id of the Redis server when the epoch began),
 *                     ended_bytes (of all ended leases), ended_most, ended_most_bytes (their bounds)
 *   browsers  hash    browser id → record
 *   idle      zset    browser id by the order in which it became idle
 *   waiters   zset    session id by ticket
 *   requests  hash    session id of a waiter → its request
 *   leases    hash    session id → lease
 *   ended     hash    session id → what is kept of its lease, with time and reason of its end; for a day at most
 *   ended_at  zset    session id by that time
 *   configs   hash    configuration hash → configuration of browsers made with it
 *   beats     hash    channel of an API replica whose callers wait → when Redis last heard of that replica, ms
 */
const parts = [
  "pool",
  "browsers",
  "idle",
  "waiters",
  "requests",
  "leases",
  "ended",
  "ended_at",
  "configs",
  "beats",
] as const;

export type PoolPart = (typeof parts)[number];

/** The Redis key of one part of a pool. The braces put all parts into one slot of a Redis Cluster. */
export const poolKey = (poolUid: string, part: PoolPart): string => `bp:{${poolUid}}:${part}`;

/** The keys of all parts, in the order that scripts/includes/keys.lua expects. */
export const poolKeys = (poolUid: string): string[] => parts.map((part) => poolKey(poolUid, part));

/**
 * The channel on which an API replica receives grants to the pool's callers that wait at it. It is a shard channel in
 * the pool's slot, so that in a Redis Cluster the script that publishes there counts all subscribers of the channel.
 */
export const grantsChannel = (poolUid: string, replicaId: string): string => `bp:{${poolUid}}:grants:${replicaId}`;

/** A shard channel of all API replicas. An empty message makes the pool's waiting callers take again. */
export const recheckChannel = (poolUid: string): string => `bp:{${poolUid}}:recheck`;

/** The pool of a key or a shard channel. */
export const poolOf = (keyOrChannel: string): string => /\{(.*?)\}/.exec(keyOrChannel)?.[1] ?? "";

/** The channel on which operators receive which pools changed. */
export const poolsChannel = "bp:pools";

/** The channel on which API replicas with readers of events receive what becomes of sessions. */
export const sessionsChannel = "bp:sessions";
