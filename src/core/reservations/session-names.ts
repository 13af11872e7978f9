import { AppError } from "../../platform/base/errors.ts";
import type { RedisConnection } from "../../platform/redis/connection.ts";
import { sessionNamesKey } from "../../platform/redis/keys.ts";
import { orUnavailable, retryBriefly } from "../../platform/redis/or-unavailable.ts";
import { loadScript, runScript, textReply } from "../../platform/redis/script.ts";

/** The owner of a name: a session of a pool. */
export type NameOwner = { poolUid: string; session: string };

/** Tells whether a session still has its lease (src/core/leases/lease-store.ts). */
type Sessions = { isAlive(poolUid: string, session: string): Promise<boolean> };

/** A name of a project, and the session that it is reserved for. */
export type ReservedName = { name: string; owner: NameOwner };

/** Names of active sessions, unique within a project (LEASE-6). */
export type SessionNames = {
  /** False when another session that is alive has the name. */
  reserve(projectId: string, name: string, owner: NameOwner): Promise<boolean>;
  free(projectId: string, name: string, owner: NameOwner): Promise<void>;
  find(projectId: string, name: string): Promise<NameOwner | undefined>;
  /**
   * About a hundred names of the project. `cursor`: the `next` of the page before; `next` is undefined on the last
   * page.
   */
  page(projectId: string, cursor?: string): Promise<{ reserved: ReservedName[]; next: string | undefined }>;
};

const reserveScript = loadScript("reserve-name", import.meta.url);
const freeScript = loadScript("free-name", import.meta.url);

/** Names on a page. A script reads the lease of each, of 20 kB at most, so more would keep Redis busy for too long. */
const pageSize = 100;

/** Begins the fields of the hash that are no names (core/leases/names-in-use.ts); no name begins with it. */
const noName = "!";

const format = ({ poolUid, session }: NameOwner): string => `${poolUid}/${session}`;

const parse = (text: string): NameOwner => {
  const slash = text.indexOf("/");
  return { poolUid: text.slice(0, slash), session: text.slice(slash + 1) };
};

/**
 * A name lives in another slot than its pool, so a session can end without freeing its name (its replica died). The
 * next `reserve` of that name finds that its owner is not alive any more, and replaces the owner. The operator frees
 * the names that nobody reserves again (core/pools/ended/free-ended-names.ts).
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
      if (name.startsWith(noName)) return undefined;
      const text = await orUnavailable(redis.hget(sessionNamesKey(projectId), name));
      return text ? parse(text) : undefined;
    },
    async page(projectId, cursor = "0") {
      const [next, flat] = await orUnavailable(redis.hscan(sessionNamesKey(projectId), cursor, "COUNT", pageSize));
      const reserved = flat.flatMap((name, index) =>
        index % 2 === 0 && !name.startsWith(noName) ? [{ name, owner: parse(flat[index + 1] ?? "") }] : [],
      );
      return { reserved, next: next === "0" ? undefined : next };
    },
  };
};

/** The error for a name that another active session of the project has (LEASE-6). */
const sessionNameTaken = (name: string): AppError =>
  new AppError("name_taken", `name: ${name} is the name of another active session of this project`);

/** Reserves the name, if one is wanted, for a session of the project. Throws `name_taken`. */
export const reserveSessionName = async (
  name: string | undefined,
  { owner, projectId }: { owner: NameOwner; projectId: string },
  { names }: { names: SessionNames },
  signal?: AbortSignal,
): Promise<void> => {
  if (name && !(await retryBriefly(() => names.reserve(projectId, name, owner), signal))) throw sessionNameTaken(name);
};
