/** The room that what is kept of a project's sessions takes in the blob store. */
import type { RedisConnection } from "../../platform/redis/connection.ts";
import { orUnavailable } from "../../platform/redis/or-unavailable.ts";
import { loadScript, runScript } from "../../platform/redis/script.ts";

/** What takes room. `goesMs`: when it is kept no longer, ms since 1970. */
type Kept = { id: string; projectId: string; goesMs: number };

/** Every method throws `unavailable` when Redis does not answer. */
export type BlobRoom = {
  /** Reserves so many bytes for what is kept so long at most. False when its project has no room. */
  reserve(
    kept: Pick<Kept, "id" | "projectId">,
    wanted: { bytes: number; ms: number },
    most: { bytes: number; count: number },
  ): Promise<boolean>;
  /** Keeps the room that it really takes. */
  settle(kept: Kept, bytes: number): Promise<void>;
  /** Gives its room back. */
  release(kept: Pick<Kept, "id" | "projectId">): Promise<void>;
};

const reserveScript = loadScript("reserve-room", import.meta.url);

/** Sets a field of a hash that goes with the last of its fields; `goesMs` says when each is out of sight. */
export const setKept = async (
  redis: RedisConnection,
  key: string,
  { id, goesMs }: Pick<Kept, "id" | "goesMs">,
  text: string,
): Promise<void> => {
  await orUnavailable(redis.hset(key, id, text));
  const seconds = Math.max(1, Math.ceil((goesMs - Date.now()) / 1000));
  await orUnavailable(redis.expire(key, seconds, "NX"));
  await orUnavailable(redis.expire(key, seconds, "GT"));
};

/** `keyOf`: of the hash of a project's room: id → `<the time at which it goes, ms>:<bytes>`. */
export const createBlobRoom = (redis: RedisConnection, keyOf: (projectId: string) => string): BlobRoom => ({
  async reserve({ id, projectId }, { bytes, ms }, most) {
    const argv = [id, bytes, ms, most.bytes, most.count];
    return (await orUnavailable(runScript(redis, reserveScript, [keyOf(projectId)], argv))) === 1;
  },
  settle: (kept, bytes) => setKept(redis, keyOf(kept.projectId), kept, `${kept.goesMs}:${bytes}`),
  async release({ id, projectId }) {
    await orUnavailable(redis.hdel(keyOf(projectId), id));
  },
});
