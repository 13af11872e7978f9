import type { Logger } from "../log.ts";
import { mastersOf, type RedisConnection } from "./connection.ts";
import { infoField } from "./memory-use.ts";

/** The first major version with shard channels. */
const oldestMajor = 7;

/**
 * Checks every server once, at start. Throws when one is too old. Warns when one evicts keys as its memory fills, because
 * leases would vanish. Only warns when the user may not call INFO.
 */
export const checkRedis = async (redis: RedisConnection, log: Logger): Promise<void> => {
  for (const server of mastersOf(redis)) {
    const info = await server.info("server", "memory").catch((err: Error) => {
      log.warn({ reason: err.message }, "the version and settings of Redis can't be checked; allow its user INFO");
      return "";
    });
    const version = infoField(info, "redis_version");
    if (version && Number.parseInt(version, 10) < oldestMajor)
      throw new Error(`Redis ${oldestMajor}.0 or newer is needed, this is ${version}`);
    const policy = infoField(info, "maxmemory_policy");
    if (policy && policy !== "noeviction")
      log.warn({ policy }, "Redis may drop leases when its memory is full: set maxmemory-policy to noeviction");
  }
};
