import type { RedisConnection } from "../../platform/redis/connection.ts";
import { telemetryStateKey } from "../../platform/redis/keys.ts";
import { orUnavailable } from "../../platform/redis/or-unavailable.ts";

/** How far a session's events have been exported to a destination: the number of the last event that is done with. */
export type ExportCursors = {
  /** 0 before the first. Throws `unavailable`. */
  get(session: string, destinationUid: string): Promise<number>;
  set(session: string, destinationUid: string, seq: number): Promise<void>;
};

/** Longest life of a cursor whose events are gone, s. Otherwise it goes with them. */
const aloneSeconds = 3600;

const fieldOf = (destinationUid: string): string => `exported:${destinationUid}`;

/** Cursors beside the state of the session's events. */
export const createExportCursors = (redis: RedisConnection): ExportCursors => ({
  async get(session, destinationUid) {
    return Number((await orUnavailable(redis.hget(telemetryStateKey(session), fieldOf(destinationUid)))) ?? 0);
  },
  async set(session, destinationUid, seq) {
    const key = telemetryStateKey(session);
    await orUnavailable(redis.hset(key, fieldOf(destinationUid), seq));
    await orUnavailable(redis.expire(key, aloneSeconds, "NX"));
  },
});
