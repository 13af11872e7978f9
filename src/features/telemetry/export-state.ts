/**
 * What came of the requests to telemetry destinations, for their users; a hash for each destination, kept for a month
 * after the last one.
 */

import { z } from "zod";
import type { RedisConnection } from "../../platform/redis/connection.ts";
import { exportResultsKey, telemetryStateKey } from "../../platform/redis/keys.ts";
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

/** Times are RFC 3339. `lastError`: one word; it stays after a success. */
type KnownExports = {
  consecutiveFailures: number;
  lastError?: string | undefined;
  lastErrorAt?: string | undefined;
  lastExportAt?: string | undefined;
};

export type ExportResults = {
  /** Counts a request that the receiver took. */
  sent(uid: string): Promise<void>;
  /** Counts a failed export. `what`: one word, e.g. `http_503`; never what the receiver has sent. */
  failed(uid: string, what: string): Promise<void>;
  /** What is known of one destination. */
  read(uid: string): Promise<KnownExports>;
};

/** s: 30 days. */
const keptSeconds = 30 * 24 * 60 * 60;

const Hash = z.object({
  failures: z.coerce.number().int().min(0).default(0),
  error: z.string().optional(),
  errorAt: z.string().optional(),
  sentAt: z.string().optional(),
});

const now = (): string => new Date().toISOString();

/** The results in this Redis. All methods throw `unavailable`. */
export const createExportResults = (redis: RedisConnection): ExportResults => ({
  async sent(uid) {
    const key = exportResultsKey(uid);
    await orUnavailable(redis.hset(key, { failures: 0, sentAt: now() }));
    await orUnavailable(redis.expire(key, keptSeconds));
  },
  async failed(uid, what) {
    const key = exportResultsKey(uid);
    const error = what.slice(0, 64);
    await orUnavailable(redis.hincrby(key, "failures", 1));
    await orUnavailable(redis.hset(key, { error, errorAt: now() }));
    await orUnavailable(redis.expire(key, keptSeconds));
  },
  async read(uid) {
    const { failures, error, errorAt, sentAt } = Hash.parse(await orUnavailable(redis.hgetall(exportResultsKey(uid))));
    return { consecutiveFailures: failures, lastError: error, lastErrorAt: errorAt, lastExportAt: sentAt };
  },
});
