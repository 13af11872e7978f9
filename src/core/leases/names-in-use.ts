import { randomUUID } from "node:crypto";
import type { RedisConnection } from "../../platform/redis/connection.ts";
import { sessionNamesKey } from "../../platform/redis/keys.ts";
import { orUnavailable } from "../../platform/redis/or-unavailable.ts";
import { listReply, loadScript, runScript, type Script } from "../../platform/redis/script.ts";
import { poolKeys } from "./pool-keys.ts";

/**
 * Which of these sessions hold a browser or wait for one under this name, in their order. `isRecovering`: a session
 * that is not found may live, because Redis knows nothing about the pool, or may not know every lease (yet). Throws
 * `unavailable`.
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

// Whether all session names of a project are in Redis. A name that is not found is over only then; else it may be that
// of a session which Redis has forgotten and an agent still holds.
//
//   uncertain ──a check begins, no pool of the project is recovered, nothing was lost meanwhile──► complete
//      ▲                                                                                              │
//      └─────────────────────────── Redis loses its data, or another server answers ─────────────────┘
//
// So a look-up of a name that nobody has asks one key, and not every pool of the project.

/**
 * `confirm`: call it when no pool of the project is being recovered; it holds only if nothing was lost since the check.
 */
type NamesCheck = { isComplete: true } | { isComplete: false; confirm(): Promise<void> };

export type NamesComplete = { check(projectId: string): Promise<NamesCheck> };

const checkScript = loadScript("are-names-complete", import.meta.url);
const confirmScript = loadScript("confirm-names", import.meta.url);

/** Throws `unavailable` when Redis does not answer. */
export const createNamesComplete = (redis: RedisConnection): NamesComplete => {
  const run = (script: Script, projectId: string, check: string): Promise<unknown> =>
    orUnavailable(runScript(redis, script, [sessionNamesKey(projectId)], [check]));
  return {
    async check(projectId) {
      const id = randomUUID();
      if ((await run(checkScript, projectId, id)) === 1) return { isComplete: true };
      return { isComplete: false, confirm: async () => void (await run(confirmScript, projectId, id)) };
    },
  };
};
