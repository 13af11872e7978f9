/**
 * The telemetry events of sessions: a bounded stream for each, whose ids are the events' numbers. So the same event,
 * appended twice, is there once. The oldest events go first; of a project's ended sessions, those of the session whose
 * events would go next.
 */

import type { RedisConnection } from "../../platform/redis/connection.ts";
import {
  endedTelemetryBytesKey,
  endedTelemetryKey,
  telemetryKey,
  telemetryStateKey,
} from "../../platform/redis/keys.ts";
import { orUnavailable } from "../../platform/redis/or-unavailable.ts";
import { listReply, loadScript, numberReply, runScript, textReply, textsReply } from "../../platform/redis/script.ts";
import type { TelemetryCollector } from "./collector.ts";
import type { SessionWatches } from "./session-watch.ts";

/** What use cases need for the telemetry of sessions. */
export type TelemetryParts = { events: TelemetryStore; watches: SessionWatches; collector: TelemetryCollector };

/** An event as it is kept. `ts`: its time, microseconds since 1970; `event`: as JSON. */
export type KeptEvent = { seq: number; ts: number; event: string };

/** Most bytes of a session's events, and their longest age, s; `BROWSERPOOL_TELEMETRY_*` sets both. */
export type TelemetryBounds = { bytes: number; seconds: number };

/** `after`: the number before the first event, in this order; left out, the oldest or the newest is the first. */
type TelemetryPlace = { order: "asc" | "desc"; after?: number | undefined; count: number };

/** `last`: the number of the last event that there is or was; 0 for none. `hasEnded`: no further event comes. */
export type TelemetryPage = { last: number; hasEnded: boolean; events: Omit<KeptEvent, "ts">[] };

/** Every method throws `unavailable` when Redis does not answer. */
export type TelemetryStore = {
  /**
   * `events`: in the order of their numbers. Those that there are or were already are left out. Throws when Redis is
   * full.
   */
  append(session: string, events: readonly KeptEvent[], bounds: TelemetryBounds): Promise<void>;
  /** Fewer events than there are when they are large; none only when there is none. */
  read(session: string, place: TelemetryPlace): Promise<TelemetryPage>;
  /** The number of the first event at this time (microseconds since 1970) or later; undefined when there is none. */
  seek(session: string, ts: number): Promise<number | undefined>;
  /** No further event comes; what there is stays this long. `mostBytes`: of all ended sessions of the project. */
  end(session: string, kept: { projectId: string; seconds: number; mostBytes: number }): Promise<void>;
  /** Drops events of ended sessions of a project down to this many bytes, of 100 sessions at most. */
  trimEnded(projectId: string, mostBytes: number): Promise<void>;
};

/** A page has no more bytes than this and one event: what a reader costs. */
const maxPageBytes = 256 * 1024;

/** Sessions whose events one call drops. */
const droppedAtOnce = 100;

const scripts = {
  append: loadScript("append-telemetry", import.meta.url),
  read: loadScript("read-telemetry", import.meta.url),
  seek: loadScript("seek-telemetry", import.meta.url),
  end: loadScript("end-telemetry", import.meta.url),
  boundEnded: loadScript("bound-ended-telemetry", import.meta.url),
};

const keysOf = (session: string): string[] => [telemetryKey(session), telemetryStateKey(session)];

const pageOf = (reply: unknown): TelemetryPage => {
  const [last, ended, ...flat] = listReply(reply);
  const events = [];
  for (let index = 0; index < flat.length; index += 2)
    events.push({ seq: numberReply(flat[index]), event: textReply(flat[index + 1]) });
  return { last: numberReply(last), hasEnded: ended === 1, events };
};

/**
 * `redis`: best a connection of its own, since events are larger than what callers wait for. It keeps nothing itself.
 */
export const createTelemetryStore = (redis: RedisConnection): TelemetryStore => {
  const drop = async (sessions: string[]): Promise<void> => {
    // One session after the other: each has a slot of its own.
    for (const session of sessions) await orUnavailable(redis.unlink(keysOf(session)));
  };
  const boundEnded = async (projectId: string, argv: (string | number)[]): Promise<void> => {
    const keys = [endedTelemetryKey(projectId), endedTelemetryBytesKey(projectId)];
    await drop(textsReply(await orUnavailable(runScript(redis, scripts.boundEnded, keys, argv))));
  };
  return {
    async append(session, events, { bytes, seconds }) {
      const flat = events.flatMap(({ seq, ts, event }) => [seq, ts, event]);
      await orUnavailable(runScript(redis, scripts.append, keysOf(session), [bytes, seconds, ...flat]));
    },
    async read(session, { order, after, count }) {
      const argv = [order, after ?? "", count, maxPageBytes];
      return pageOf(await orUnavailable(runScript(redis, scripts.read, keysOf(session), argv)));
    },
    async seek(session, ts) {
      const seq = await orUnavailable(runScript(redis, scripts.seek, keysOf(session), [ts]));
      return numberReply(seq) || undefined;
    },
    async end(session, { projectId, seconds, mostBytes }) {
      const bytes = await orUnavailable(runScript(redis, scripts.end, keysOf(session), [seconds]));
      await boundEnded(projectId, [mostBytes, droppedAtOnce, session, numberReply(bytes), seconds]);
    },
    trimEnded: (projectId, mostBytes) => boundEnded(projectId, [mostBytes, droppedAtOnce, "", 0, 0]),
  };
};
