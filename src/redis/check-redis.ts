import type { Logger } from "../log.ts";
import { mastersOf, type RedisConnection } from "./connection.ts";

/** Shard channels came with it. */
const oldestMajor = 7;

const field = (info: string, name: string): string | undefined => new RegExp(`^${name}:(.*?)\r?$`, "m").exec(info)?.[1];

/**
 * Looks at the servers once, at start. Throws when one is too old; warns when one throws away what it holds as its memory
 * fills: leases would vanish. A login that may not ask is let through with a warning.
 */
export const checkRedis = async (redis: RedisConnection, log: Logger): Promise<void> => {
  for (const server of mastersOf(redis)) {
    const info = await server.info("server", "memory").catch((err: Error) => {
      log.warn({ reason: err.message }, "the version and settings of Redis can't be checked; allow its user INFO");
      return "";
    });
    const version = field(info, "redis_version");
    if (version && Number.parseInt(version, 10) < oldestMajor)
      throw new Error(`Redis ${oldestMajor}.0 or newer is needed, this is ${version}`);
    const policy = field(info, "maxmemory_policy");
    if (policy && policy !== "noeviction")
      log.warn({ policy }, "Redis may drop leases when its memory is full: set maxmemory-policy to noeviction");
  }
};
