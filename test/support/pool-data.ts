/** Reads all that Redis has of a pool, to see what a script has changed in it. */
import { type PoolPart, poolKey } from "../../src/core/leases/pool-keys.ts";
import type { BrowserRecord, LeaseRecord } from "../../src/core/leases/records.ts";
import type { RedisConnection } from "../../src/platform/redis/connection.ts";

const hashes = ["pool", "browsers", "requests", "leases", "ended", "configs"] as const;
const sets = ["idle", "waiters", "ended_at"] as const;

/**
 * Each part by its field, or by its member with the score; without the beats, and without when operators were last
 * told.
 */
export type PoolData = Record<(typeof hashes)[number] | (typeof sets)[number], Record<string, string>>;

const pairs = (flat: string[]): Record<string, string> =>
  Object.fromEntries(flat.flatMap((key, index) => (index % 2 === 0 ? [[key, flat[index + 1] ?? ""]] : [])));

export const poolData = async (redis: RedisConnection, poolUid: string): Promise<PoolData> => {
  const key = (part: PoolPart): string => poolKey(poolUid, part);
  const read = await Promise.all([
    ...hashes.map(async (part) => [part, await redis.hgetall(key(part))] as const),
    ...sets.map(async (part) => [part, pairs(await redis.zrange(key(part), "0", "-1", "WITHSCORES"))] as const),
  ]);
  const data = Object.fromEntries(read) as PoolData;
  delete data.pool.told_at;
  return data;
};

/** The records and the leases of a pool, by id. */
export const recordsOf = ({
  browsers,
  leases,
}: PoolData): { browsers: Map<string, BrowserRecord>; leases: Map<string, LeaseRecord> } => ({
  browsers: new Map(Object.entries(browsers).map(([id, text]) => [id, JSON.parse(text)])),
  leases: new Map(Object.entries(leases).map(([session, text]) => [session, JSON.parse(text)])),
});
