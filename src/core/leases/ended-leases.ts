/**
 * The ended leases of pools: read page by page, the latest end first, and dropped where they are too many. A page is
 * read by its place in the sorted set of end times, so a reader never gets more than it asked for.
 */
import type { RedisConnection } from "../../platform/redis/connection.ts";
import { orUnavailable } from "../../platform/redis/or-unavailable.ts";
import { listReply, loadScript, numberReply, runScript, textReply } from "../../platform/redis/script.ts";
import { poolKey, poolKeys } from "./pool-keys.ts";
import type { EndedLease } from "./records.ts";

/** Most ended leases and most of their bytes, as Redis stores them. */
export type EndedBounds = { count: number; bytes: number };

/**
 * `most`: of the pool, also held whenever one of its leases ends. `now`: to be reached by this call, not above `most`.
 */
type Trim = { most: EndedBounds; now: EndedBounds; steps: number };

/** What a trim leaves. `server`: the run id of the Redis server that the pool is on, as far as known. */
type Trimmed = EndedBounds & { dropped: number; server: string };

/** An ended lease by its place. `endedMs`: by Redis' clock. */
export type EndedEntry = { session: string; endedMs: number };

/** Every method throws `unavailable` when Redis does not answer. */
export type EndedLeases = ReturnType<typeof createEndedLeases>;

const trimScript = loadScript("trim", import.meta.url);

/** A view over this connection. It keeps nothing itself. */
export const createEndedLeases = (redis: RedisConnection) => ({
  /**
   * Drops the oldest ended leases beyond `now`, `steps` of them at most; leases of the last 20 s stay. Returns what is
   * left.
   */
  async trim(poolUid: string, { most, now, steps }: Trim): Promise<Trimmed> {
    const argv = [most.count, most.bytes, now.count, now.bytes, steps];
    const [dropped, count, bytes, server] = listReply(
      await orUnavailable(runScript(redis, trimScript, poolKeys(poolUid), argv)),
    );
    const left = { count: numberReply(count), bytes: numberReply(bytes) };
    return { ...left, dropped: numberReply(dropped), server: textReply(server) };
  },
  /** How many leases of the pool ended at this time or later. */
  async countSince(poolUid: string, sinceMs: number): Promise<number> {
    return orUnavailable(redis.zcount(poolKey(poolUid, "ended_at"), sinceMs, "+inf"));
  },
  /**
   * The latest ends before `beforeMs`, `count` of them at most, without the first `skip`; of one millisecond the last
   * id first.
   */
  async entries(
    poolUid: string,
    beforeMs: number,
    { skip, count }: { skip: number; count: number },
  ): Promise<EndedEntry[]> {
    const key = poolKey(poolUid, "ended_at");
    const flat = await orUnavailable(
      redis.zrevrangebyscore(key, `(${beforeMs}`, "-inf", "WITHSCORES", "LIMIT", skip, count),
    );
    return flat.flatMap((session, index) => (index % 2 === 0 ? [{ session, endedMs: Number(flat[index + 1]) }] : []));
  },
  /**
   * What is kept of these sessions, in their order; undefined where nothing is kept (any more). The scripts alone write
   * it: a search may read 5000, so their fields are not checked.
   */
  async read(poolUid: string, sessions: string[]): Promise<(EndedLease | undefined)[]> {
    if (sessions.length === 0) return [];
    const texts = await orUnavailable(redis.hmget(poolKey(poolUid, "ended"), ...sessions));
    return texts.map((text, index) => (text ? { ...JSON.parse(text), session: sessions[index] ?? "" } : undefined));
  },
});
