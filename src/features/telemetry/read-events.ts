import type { LeaseStore } from "../../core/leases/lease-store.ts";
import type { FoundSession } from "../../core/sessions/find-session.ts";
import { sessionTelemetry } from "../../core/sessions/session-answer.ts";
import { AppError, invalidInput } from "../../platform/base/errors.ts";
import { whileUnavailable } from "../../platform/redis/or-unavailable.ts";
import { momentOf } from "../../platform/rules/time-window.ts";
import { droppedBetween, recordOf } from "./record.ts";
import type { TelemetryRecord } from "./telemetry-event.ts";
import type { TelemetryPage, TelemetryParts } from "./telemetry-store.ts";

/** `offset`: of the answer before; left out for a first page. `category`, `type`: left out for all. */
type EventsQuery = {
  order: "asc" | "desc";
  category?: readonly string[] | undefined;
  type?: readonly string[] | undefined;
  since?: string | undefined;
  until?: string | undefined;
  offset?: number | undefined;
  limit: number;
};

/** `next`: the offset of the next page; 0 when there is none. */
type EventsPage = { records: TelemetryRecord[]; next: number };

/** Where a window begins that has no begin. */
const defaultSince = "5m";

/** A page has no more bytes than this and one event. */
const maxBytes = 4 * 1024 * 1024;

const microseconds = (field: "since" | "until", text: string, nowMs: number): number => {
  const ms = momentOf(text, nowMs);
  if (ms === undefined)
    throw invalidInput([{ path: field, message: "give an RFC 3339 timestamp, or a duration such as 5m" }]);
  return Math.floor(ms * 1000);
};

/** The numbers between which a page is: both are outside of it. Undefined when there is nothing. */
type Window = { after: number | undefined; before: number | undefined };

const windowOf = async (
  session: string,
  { order, since, until, offset }: EventsQuery,
  { telemetry: { events } }: { telemetry: TelemetryParts },
): Promise<Window | undefined> => {
  const nowMs = Date.now();
  const [sinceTs, untilTs] = [
    microseconds("since", since ?? defaultSince, nowMs),
    until === undefined ? undefined : microseconds("until", until, nowMs),
  ];
  const before = untilTs === undefined ? undefined : await events.seek(session, untilTs);
  if (order === "desc") {
    const marks = [before, offset || undefined].filter((mark) => mark !== undefined);
    return { after: marks.length > 0 ? Math.min(...marks) : undefined, before: 0 };
  }
  const first = offset ?? (await events.seek(session, sinceTs));
  return first === undefined ? undefined : { after: Math.max(0, first - 1), before };
};

type Kept = TelemetryPage["events"][number];

/** Up to this many events, and one more that tells that there are more. */
const readUpTo = async (
  session: string,
  { order, limit }: EventsQuery,
  { after, before }: Window,
  { telemetry: { events } }: { telemetry: TelemetryParts },
): Promise<Kept[]> => {
  const isWithin = ({ seq }: Kept): boolean => before === undefined || (order === "asc" ? seq < before : seq > before);
  const found: Kept[] = [];
  for (let bytes = 0; found.length <= limit && bytes < maxBytes; ) {
    const place = { order, after: found.at(-1)?.seq ?? after, count: limit + 1 - found.length };
    const page = (await events.read(session, place)).events;
    const within = page.filter(isWithin);
    found.push(...within);
    bytes += within.reduce((sum, { event }) => sum + event.length, 0);
    if (page.length === 0 || within.length < page.length) break;
  }
  return found;
};

/** A page of the events of a session that are kept. Throws `bad_request`. */
export const readEvents = async (
  session: string,
  query: EventsQuery,
  deps: { telemetry: TelemetryParts },
): Promise<EventsPage> => {
  if (query.order === "desc" && query.since !== undefined)
    throw new AppError(
      "bad_request",
      "since: give it with order asc only; desc begins at until, offset or the newest event",
    );
  const window = await windowOf(session, query, deps);
  if (!window) return { records: [], next: 0 };
  const found = await readUpTo(session, query, window, deps);
  // What was read beyond a page's bytes is read again.
  const isCut =
    found.length > 1 &&
    found.length <= query.limit &&
    found.reduce((sum, { event }) => sum + event.length, 0) >= maxBytes;
  const page = isCut ? found.slice(0, -1) : found.slice(0, query.limit);
  const hasMore = page.length < found.length;
  const { category, type } = query;
  const isWanted = ({ event }: TelemetryRecord): boolean =>
    (category?.includes(event.category) ?? true) && (type?.includes(event.type) ?? true);
  const records = page.map(recordOf).filter(isWanted);
  const last = page.at(-1)?.seq ?? 0;
  return { records, next: hasMore ? (query.order === "asc" ? last + 1 : last) : 0 };
};

/** Events of one read. */
const pageSize = 100;

/**
 * The events of a session after this number, as they come; ends with the session. What is gone already is told by an
 * event in its place. It reads a page when its reader has taken the last one. Throws the reason of `signal`.
 */
const follow = async function* (
  { session, poolUid, after }: { session: string; poolUid: string; after: number },
  { telemetry: { events, watches } }: { telemetry: TelemetryParts },
  signal: AbortSignal,
): AsyncGenerator<TelemetryRecord> {
  const watch = watches.join({ session, poolUid });
  try {
    for (let last = after; ; ) {
      const { isOver } = await watch.next(last, signal);
      const page = await whileUnavailable(() => events.read(session, { order: "asc", after: last, count: pageSize }), {
        maxPauseMs: 1000,
        signal,
      });
      for (const kept of page.events) {
        const record = recordOf(kept);
        // The agent tells itself what it has dropped, by an event with the number of the last one.
        if (kept.seq > last + 1 && record.event.type !== "monitor_events_dropped") yield droppedBetween(last, kept.seq);
        yield record;
        last = kept.seq;
      }
      if (page.events.length > 0) continue;
      if (isOver) return;
      // All that came was dropped before it could be read.
      if (page.last > last) {
        yield droppedBetween(last, page.last + 1);
        last = page.last;
      }
    }
  } finally {
    watch.leave();
  }
};

/**
 * Where a reader begins: after the event with this number, with the oldest event that is kept, or with the next that
 * comes.
 */
export type BeginAt = { after: number } | "oldest" | "now";

/**
 * Follows the events of an active session. Where it begins is settled when this resolves. A session that nobody
 * collects, such as after a loss of Redis, is collected from now on.
 */
export const followEvents = async (
  { lease, poolUid }: FoundSession,
  begin: BeginAt,
  deps: { store: LeaseStore; telemetry: TelemetryParts },
  signal: AbortSignal,
): Promise<AsyncGenerator<TelemetryRecord>> => {
  const { session } = lease;
  if (await sessionTelemetry(lease, deps)) await deps.telemetry.collector.ensure({ session, poolUid });
  if (typeof begin === "object") return follow({ session, poolUid, after: begin.after }, deps, signal);
  if (begin === "oldest") return follow({ session, poolUid, after: 0 }, deps, signal);
  const { last } = await deps.telemetry.events.read(session, { order: "desc", count: 0 });
  return follow({ session, poolUid, after: last }, deps, signal);
};
