import { AppError, invalidInput } from "../../platform/base/errors.ts";
import { momentOf } from "../../platform/rules/time-window.ts";
import { recordOf } from "./record.ts";
import type { TelemetryRecord } from "./telemetry-event.ts";
import type { TelemetryParts } from "./telemetry-parts.ts";
import type { TelemetryPage } from "./telemetry-store.ts";

/** `offset`: of the answer before; left out for a first page. `category`: left out for all. */
type EventsQuery = {
  order: "asc" | "desc";
  category?: readonly string[] | undefined;
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
  const records = page.map(recordOf).filter(({ event }) => !query.category || query.category.includes(event.category));
  const last = page.at(-1)?.seq ?? 0;
  return { records, next: hasMore ? (query.order === "asc" ? last + 1 : last) : 0 };
};
