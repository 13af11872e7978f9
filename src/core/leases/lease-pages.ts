/** The leases of a pool that run, some at a time: for readers that take thousands of them one after the other. */
import type { RedisConnection } from "../../platform/redis/connection.ts";
import { orUnavailable } from "../../platform/redis/or-unavailable.ts";
import { parseLease } from "./lease-store.ts";
import { poolKey } from "./pool-keys.ts";
import type { LeaseRecord } from "./records.ts";

/** Every method throws `unavailable` when Redis does not answer. */
export type LeasePages = ReturnType<typeof createLeasePages>;

/** A view over this connection. It keeps nothing itself. */
export const createLeasePages = (redis: RedisConnection) => ({
  /**
   * Some leases, `count` or a few more, from `cursor` on, which begins with "0" and ends with "0". What is there all the
   * while is among them once or more often. The scripts alone write these records, so their fields are not checked.
   */
  async page(poolUid: string, cursor: string, count: number): Promise<{ cursor: string; leases: LeaseRecord[] }> {
    const [next, flat] = await orUnavailable(redis.hscan(poolKey(poolUid, "leases"), cursor, "COUNT", count));
    const texts = flat.filter((_, index) => index % 2 === 1);
    return { cursor: next, leases: texts.map((text) => JSON.parse(text) as LeaseRecord) };
  },
  /** The leases of these sessions, without those that have ended. */
  async read(poolUid: string, sessions: string[]): Promise<LeaseRecord[]> {
    if (sessions.length === 0) return [];
    const texts = await orUnavailable(redis.hmget(poolKey(poolUid, "leases"), ...sessions));
    return texts.flatMap((text) => (text === null ? [] : parseLease(text)));
  },
});
