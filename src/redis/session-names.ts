import type { RedisConnection } from "./connection.ts";
import { sessionNamesKey } from "./keys.ts";
import { orUnavailable } from "./or-unavailable.ts";
import { textReply } from "./reply.ts";
import { loadScript, runScript } from "./script.ts";

/** The owner of a name: a session of a pool. */
export type NameOwner = { poolUid: string; session: string };

/** Tells whether a session still has its lease (src/leases/lease-store.ts). */
export type Sessions = { isAlive(poolUid: string, session: string): Promise<boolean> };

/** Names of active sessions, unique within a project (LEASE-6). */
export type SessionNames = {
  /** False when another session that is alive has the name. */
  reserve(projectId: string, name: string, owner: NameOwner): Promise<boolean>;
  free(projectId: string, name: string, owner: NameOwner): Promise<void>;
  find(projectId: string, name: string): Promise<NameOwner | undefined>;
};

const reserveScript = loadScript("reserve-name", import.meta.url);
const freeScript = loadScript("free-name", import.meta.url);

const format = ({ poolUid, session }: NameOwner): string => `${poolUid}/${session}`;

const parse = (text: string): NameOwner => {
  const slash = text.indexOf("/");
  return { poolUid: text.slice(0, slash), session: text.slice(slash + 1) };
};

/**
 * A name lives in another slot than its pool, so a session can end without freeing its name (its browser died). The next
 * `reserve` of that name finds that its owner is not alive any more, and replaces the owner.
 */
export const createSessionNames = (redis: RedisConnection, sessions: Sessions): SessionNames => {
  const reserveOver = async (key: string, name: string, owner: NameOwner, deadOwner: string): Promise<string> =>
    textReply(await orUnavailable(runScript(redis, reserveScript, [key], [name, format(owner), deadOwner])));
  return {
    async reserve(projectId, name, owner) {
      const key = sessionNamesKey(projectId);
      const present = await reserveOver(key, name, owner, "");
      if (present === "") return true;
      const { poolUid, session } = parse(present);
      if (await sessions.isAlive(poolUid, session)) return false;
      return (await reserveOver(key, name, owner, present)) === "";
    },
    async free(projectId, name, owner) {
      await orUnavailable(runScript(redis, freeScript, [sessionNamesKey(projectId)], [name, format(owner)]));
    },
    async find(projectId, name) {
      const text = await orUnavailable(redis.hget(sessionNamesKey(projectId), name));
      return text ? parse(text) : undefined;
    },
  };
};
