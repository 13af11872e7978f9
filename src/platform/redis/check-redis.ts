import { AppError } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import { mastersOf, type RedisConnection } from "./connection.ts";
import { infoField } from "./memory-use.ts";
import { orUnavailable } from "./or-unavailable.ts";

/** The first major version with shard channels. */
const oldestMajor = 7;

/** As scripts ask for the run of the server (core/leases/scripts/includes/server.lua). */
const readInfo = `return redis.call("INFO", "server", "memory")`;

const unknownServer = (why: string): Error =>
  new Error(
    `Redis does not say which of its servers answers (${why}), so a failover would go unnoticed: allow Browserpool's user +info, and ` +
      "let REDIS_URL lead to the servers, not to a proxy; see docs/redis.md",
  );

/**
 * Checks every server once, at start. Throws when one is too old, or does not tell its run, without which nobody
 * notices that another server answers. Warns when one evicts keys as its memory fills, because leases would vanish, and
 * when one is away.
 */
export const checkRedis = async (redis: RedisConnection, log: Logger): Promise<void> => {
  for (const server of mastersOf(redis)) {
    const info = await orUnavailable(server.eval(readInfo, 0)).catch((err: Error) => {
      if (!(err instanceof AppError)) throw unknownServer(err.message);
      log.warn({ reason: err.message }, "the version and settings of Redis can't be checked now");
      return undefined;
    });
    if (info === undefined) continue;
    const text = String(info);
    const version = infoField(text, "redis_version");
    if (version && Number.parseInt(version, 10) < oldestMajor)
      throw new Error(`Redis ${oldestMajor}.0 or newer is needed, this is ${version}`);
    if (!infoField(text, "run_id")) throw unknownServer("INFO has no run_id");
    const policy = infoField(text, "maxmemory_policy");
    if (policy && policy !== "noeviction")
      log.warn({ policy }, "Redis may drop leases when its memory is full: set maxmemory-policy to noeviction");
  }
};
