/**
 * The keys of one pool. All share the hash tag `{<pool uid>}`, so that a pool lives in one slot of a Redis Cluster, and
 * all begin with `bp:`, so that an ACL can name them. Every script gets the nine in this order (scripts/includes/keys.lua).
 *
 *   pool      hash    epoch, ticket (the highest), idle_order (counter), unpaced (starts left),
 *                     discarded (token of the last discard), draining, recovering (since when, ms),
 *                     server (its run when the epoch began)
 *   browsers  hash    browser id → record
 *   idle      zset    browser id by the order in which it became idle
 *   waiters   zset    session id by ticket
 *   requests  hash    session id of a waiter → its request
 *   leases    hash    session id → lease
 *   ended     hash    session id → lease with time and reason of its end, for a day
 *   ended_at  zset    session id by that time
 *   configs   hash    configuration hash → configuration of browsers made with it
 */
const parts = ["pool", "browsers", "idle", "waiters", "requests", "leases", "ended", "ended_at", "configs"] as const;

export type PoolPart = (typeof parts)[number];

/** The Redis key of one part of a pool. The braces put all parts into one slot of a Redis Cluster. */
export const poolKey = (poolUid: string, part: PoolPart): string => `bp:{${poolUid}}:${part}`;

/** The keys of all parts, in the order that scripts/includes/keys.lua expects. */
export const poolKeys = (poolUid: string): string[] => parts.map((part) => poolKey(poolUid, part));

/**
 * Where an API replica hears of grants to callers of a pool who wait at it. A shard channel in the pool's slot: in a Redis
 * Cluster the script that publishes there counts the subscribers of exactly this channel.
 */
export const grantsChannel = (poolUid: string, replicaId: string): string => `bp:{${poolUid}}:grants:${replicaId}`;

/** A shard channel by which all API replicas are told, by an empty message, to have the pool's waiting callers ask again. */
export const recheckChannel = (poolUid: string): string => `bp:{${poolUid}}:recheck`;

/** The pool of a key or a shard channel. */
export const poolOf = (keyOrChannel: string): string => /\{(.*?)\}/.exec(keyOrChannel)?.[1] ?? "";

/** Where operators hear of pools that changed. */
export const poolsChannel = "bp:pools";
