/**
 * Reads recent audit lines, the latest first: the streams of all projects and that of the organization as one (AUDIT-8).
 * The lines of a stream are in the order in which Redis got them, and the streams are merged by that.
 */

import { AuditLine, LeftOutLine, type RecentLine, SuppressedLine } from "./audit-line.ts";
import type { AuditLineStore, KeptLine } from "./audit-line-store.ts";

/** What a reader wants. `sinceMs`, `untilMs`: ms since the epoch; both moments are part of it. */
export type RecentLinesQuery = {
  project?: string | undefined;
  key_id?: string | undefined;
  verb?: string | undefined;
  session?: string | undefined;
  result?: AuditLine["result"] | undefined;
  sinceMs?: number | undefined;
  untilMs?: number | undefined;
  /** Only lines of calls, of these those for which it is true. */
  accepts?: ((line: AuditLine) => boolean) | undefined;
  /** Lines of a page. */
  limit: number;
  /** Where the page begins: `next` of the page before. */
  cursor?: string | undefined;
};

/** `next`: where the next page begins; undefined on the last one. A page may have few lines though more follow. */
type RecentLinesPage = { lines: RecentLine[]; next: string | undefined };

/** Lines that are looked at for one page, and their characters. */
const mostScanned = 5000;
const mostChars = 4 * 1024 * 1024;

/** Lines that are read of a stream at once: at first the least, then twice as many each time. */
const leastAtOnce = 5;
const mostAtOnce = 250;

/** A line comes to Redis this much after its time at the latest, and before it, by clocks that differ, ms. */
const slackMs = 60_000;

/**
 * A cursor: place and project of the last line that was looked at. Several streams can have a line of the same place: of
 * these, the one with the last name comes first, and the one without a project last.
 */
export const cursorForm = /^(\d{1,15})-(\d{1,15})(?:\.([a-z0-9-]{1,63}))?$/;

type Position = Pick<KeptLine, "ms" | "seq"> & { name: string };

/** `name`: of the project; empty for the stream without one. `done`: nothing is left in Redis. */
type Stream = { name: string; lines: KeptLine[]; end: string; atOnce: number; done: boolean };

/** Below 0 when `a` comes first: it is the later one. */
const compare = (a: Position, b: Position): number =>
  b.ms - a.ms || b.seq - a.seq || (a.name > b.name ? -1 : a.name < b.name ? 1 : 0);

const cursorOf = ({ ms, seq, name }: Position): string => `${ms}-${seq}${name && `.${name}`}`;

const positionOf = (cursor: string): Position | undefined => {
  const [, ms, seq, name = ""] = cursorForm.exec(cursor) ?? [];
  return ms === undefined ? undefined : { ms: Number(ms), seq: Number(seq), name };
};

/** Where a stream is read from: after the cursor, and not much later than the wanted time. */
const endOf = (name: string, after: Position | undefined, untilMs = Infinity): string => {
  // Streams begin in 1970.
  const latest = Math.max(0, untilMs + slackMs);
  // Redis takes nothing that is before 0-0, which no line has.
  const isWith = after && (name < after.name || after.ms + after.seq === 0);
  if (after && after.ms <= latest) return `${isWith ? "" : "("}${after.ms}-${after.seq}`;
  return latest === Infinity ? "+" : String(latest);
};

/** A line of another version may have other fields: then it is left out. */
const parse = (json: string): RecentLine | undefined => {
  const value: Record<string, unknown> = JSON.parse(json);
  const form = "verb" in value ? AuditLine : "suppressed" in value ? SuppressedLine : LeftOutLine;
  return form.strip().safeParse(value).data as RecentLine | undefined;
};

const fields = ["project", "key_id", "verb", "result"] as const;

/** Whether the line names the session, or what is below it in the path. */
const isOfSession = (line: RecentLine, session: string): boolean =>
  "verb" in line && (line.session === session || `${line.object}/`.startsWith(`/browsers/${session}/`));

/** A line that counts others has not all of the fields: a filter by one of these leaves it out. */
const isWanted = (line: RecentLine, query: RecentLinesQuery): boolean => {
  const atMs = Date.parse(line.time);
  if (atMs < (query.sinceMs ?? -Infinity) || atMs > (query.untilMs ?? Infinity)) return false;
  if (query.session !== undefined && !isOfSession(line, query.session)) return false;
  if (query.accepts && !("verb" in line && query.accepts(line))) return false;
  return fields.every((name) => query[name] === undefined || (line as Record<string, unknown>)[name] === query[name]);
};

/** Reads on where the stream has no line at hand. */
const refill = async (stream: Stream, store: AuditLineStore): Promise<void> => {
  if (stream.lines.length > 0 || stream.done) return;
  const lines = await store.read(stream.name || null, { end: stream.end, count: stream.atOnce });
  const last = lines.at(-1);
  stream.lines = lines;
  stream.done = !last || lines.length < stream.atOnce;
  if (last) stream.end = `(${last.ms}-${last.seq}`;
  stream.atOnce = Math.min(mostAtOnce, stream.atOnce * 2);
};

const openStreams = async (query: RecentLinesQuery, after: Position | undefined, store: AuditLineStore) => {
  const names = query.project === undefined ? ["", ...(await store.projects())] : [query.project];
  const atOnce = Math.max(leastAtOnce, Math.min(mostAtOnce, Math.ceil((2 * query.limit) / names.length)));
  const streams = names.map((name) => ({
    ...{ name, lines: [], atOnce, done: false },
    end: endOf(name, after, query.untilMs),
  }));
  await Promise.all(streams.map((stream) => refill(stream, store)));
  return streams;
};

/** The stream with the next line of all. */
const latestOf = (streams: readonly Stream[]): { stream: Stream; line: KeptLine & Position } | undefined => {
  let latest: { stream: Stream; line: KeptLine & Position } | undefined;
  for (const stream of streams) {
    const [first] = stream.lines;
    const line = first && { ...first, name: stream.name };
    if (line && (!latest || compare(line, latest.line) < 0)) latest = { stream, line };
  }
  return latest;
};

/** One page. Throws `unavailable`. */
export const readRecentLines = async (query: RecentLinesQuery, store: AuditLineStore): Promise<RecentLinesPage> => {
  const after = query.cursor === undefined ? undefined : positionOf(query.cursor);
  const streams = await openStreams(query, after, store);
  const lines: RecentLine[] = [];
  let chars = 0;
  for (let scanned = 1; ; scanned++) {
    const found = latestOf(streams);
    if (!found || found.line.ms < (query.sinceMs ?? 0) - slackMs) return { lines, next: undefined };
    const line = parse(found.line.json);
    if (line && isWanted(line, query)) lines.push(line);
    chars += found.line.json.length;
    found.stream.lines.shift();
    await refill(found.stream, store);
    const isFull = lines.length === query.limit || scanned === mostScanned || chars >= mostChars;
    if (isFull) return { lines, next: latestOf(streams) && cursorOf(found.line) };
  }
};
