/** The leaving marks of browsers. They are part of the records, so that every script respects them. */

import type { RedisConnection } from "../../platform/redis/connection.ts";
import { orUnavailable } from "../../platform/redis/or-unavailable.ts";
import { loadScript, runScript } from "../../platform/redis/script.ts";
import { poolKeys } from "./pool-keys.ts";

const leave = loadScript("leave", import.meta.url);
const stay = loadScript("stay", import.meta.url);

/** Every method throws `unavailable` when Redis does not answer. */
export type LeavingMarks = {
  /** Retires the idle browsers, and every other one as soon as it would become idle. Returns how many marks are new. */
  leave(poolUid: string, ids: string[], reason: string): Promise<number>;
  /** Removes the marks of this reason from browsers that are not retired yet. Returns how many browsers stay. */
  stay(poolUid: string, ids: string[], reason: string): Promise<number>;
};

/** Marks in Redis that take browsers out of their pools. */
export const createLeavingMarks = (redis: RedisConnection): LeavingMarks => ({
  leave: async (poolUid, ids, reason) =>
    Number(await orUnavailable(runScript(redis, leave, poolKeys(poolUid), [reason, ...ids]))),
  stay: async (poolUid, ids, reason) =>
    Number(await orUnavailable(runScript(redis, stay, poolKeys(poolUid), [reason, ...ids]))),
});
