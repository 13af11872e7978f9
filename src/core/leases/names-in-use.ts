import type { RedisConnection } from "../../platform/redis/connection.ts";
import { orUnavailable } from "../../platform/redis/or-unavailable.ts";
import { listReply } from "../../platform/redis/reply.ts";
import { loadScript, runScript } from "../../platform/redis/script.ts";
import { poolKeys } from "./pool-keys.ts";

/**
 * Which of these sessions hold a browser or wait for one under this name, in their order. `isRecovering`: a session that is not
 * found may live, because Redis knows nothing about the pool, or may not know every lease (yet). Throws `unavailable`.
 */
export type NamesInUse = (
  poolUid: string,
  sessions: { session: string; name: string }[],
) => Promise<{ isRecovering: boolean; inUse: boolean[] }>;

const script = loadScript("names-in-use", import.meta.url);

/** Asks by this connection, with one script for all sessions of a pool. */
export const createNamesInUse =
  (redis: RedisConnection): NamesInUse =>
  async (poolUid, sessions) => {
    const argv = sessions.flatMap(({ session, name }) => [session, name]);
    const [isRecovering, ...inUse] = listReply(await orUnavailable(runScript(redis, script, poolKeys(poolUid), argv)));
    return { isRecovering: isRecovering === 1, inUse: inUse.map((one) => one === 1) };
  };
