/** Which browsers are to leave their pool: kept in their records, so that every script goes by it. */

import type { RedisConnection } from "../redis/connection.ts";
import { orUnavailable } from "../redis/or-unavailable.ts";
import { loadScript, runScript } from "../redis/script.ts";
import { poolKeys } from "./pool-keys.ts";

const leave = loadScript("leave", import.meta.url);
const stay = loadScript("stay", import.meta.url);

/** Every method throws `unavailable` when Redis does not answer. */
export type LeavingMarks = {
  /** Retires the browsers that are idle, and every other one as soon as it would become idle; for how many that was news. */
  leave(poolUid: string, ids: string[], reason: string): Promise<number>;
  /** Takes `leave` back for those that have not left; the reason must be the one that was given. Returns how many stay. */
  stay(poolUid: string, ids: string[], reason: string): Promise<number>;
};

/** Marks in Redis that take browsers out of their pools. */
export const createLeavingMarks = (redis: RedisConnection): LeavingMarks => ({
  leave: async (poolUid, ids, reason) =>
    Number(await orUnavailable(runScript(redis, leave, poolKeys(poolUid), [reason, ...ids]))),
  stay: async (poolUid, ids, reason) =>
    Number(await orUnavailable(runScript(redis, stay, poolKeys(poolUid), [reason, ...ids]))),
});
