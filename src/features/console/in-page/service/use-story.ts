/**
 * What is known of a session: of telemetry all that is kept, and of an active one what comes; of its logs, while it is
 * active, what is kept and what comes.
 */
import { useEffect, useState } from "preact/hooks";
import type { LogEvent } from "../../../logs/log-event.ts";
import type { TelemetryRecord } from "../../../telemetry/telemetry-event.ts";
import { ApiError, inPath, open, type Page, readPage } from "./api.ts";
import { readEvents } from "./read-events.ts";
import type { LogLine } from "./story.ts";

/** The oldest go when there are more. */
const most = 5000;

/** The view is told at most so often, ms. */
const tellMs = 250;

type Path = { session: string; signal: AbortSignal };

/** The events of a stream, of which each is a `T`. */
const streamed = async function* <T>(
  path: string,
  query: Record<string, string>,
  signal: AbortSignal,
): AsyncGenerator<T> {
  const response = await open("GET", path, { query, signal });
  for await (const { event, data } of response.body ? readEvents(response.body) : []) {
    const told = JSON.parse(data);
    if (event === "error") throw new ApiError(0, told.error?.code, told.error?.message);
    yield told as T;
  }
};

const followed = ({ session, signal }: Path): AsyncGenerator<TelemetryRecord> =>
  streamed(`/browsers/${inPath(session)}/telemetry/stream`, { replay: "all" }, signal);

const kept = async function* ({ session, signal }: Path): AsyncGenerator<TelemetryRecord> {
  const path = `/browsers/${inPath(session)}/telemetry/events`;
  for (let offset: number | undefined; ; ) {
    const query = { include_deleted: "true", since: "7d", offset };
    const { items, next }: Page<TelemetryRecord> = await readPage(path, query, signal);
    yield* items;
    if (next === undefined) return;
    offset = next;
  }
};

/** `isWhole`: all that was kept is there. */
type Found<T> = { items: readonly T[]; isWhole: boolean; error: unknown };

/**
 * Reads what `read` gives, from the begin again when `name` is another one; nothing without a name. Of an item that
 * comes twice the later one counts.
 */
const useItems = <T>(
  name: string | undefined,
  read: (signal: AbortSignal) => AsyncIterable<readonly [key: string | number, item: T]>,
): Found<T> => {
  const [found, setFound] = useState<Found<T>>({ items: [], isWhole: false, error: undefined });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the name says what is read
  useEffect(() => {
    const gone = new AbortController();
    const known = new Map<string | number, T>();
    let telling: ReturnType<typeof setTimeout> | undefined;
    const tell = (more: Partial<Found<T>> = {}): void => {
      clearTimeout(telling);
      telling = undefined;
      if (!gone.signal.aborted) setFound((before) => ({ ...before, ...more, items: [...known.values()] }));
    };
    const readAll = async (): Promise<void> => {
      for await (const [key, item] of read(gone.signal)) {
        known.set(key, item);
        const [oldest] = known.keys();
        if (known.size > most && oldest !== undefined) known.delete(oldest);
        telling ??= setTimeout(() => tell(), tellMs);
      }
    };
    if (name === undefined) tell();
    else
      readAll().then(
        () => tell({ isWhole: true, error: undefined }),
        (error: unknown) => tell({ isWhole: true, error }),
      );
    return () => {
      gone.abort();
      clearTimeout(telling);
    };
  }, [name]);
  return found;
};

const recordsOf = async function* (path: Path, isEnded: boolean): AsyncGenerator<readonly [number, TelemetryRecord]> {
  for await (const record of (isEnded ? kept : followed)(path)) yield [record.seq, record];
};

/** The story of a session. */
export const useStory = (session: string, isEnded: boolean): Found<TelemetryRecord> =>
  useItems(`${session} ${isEnded}`, (signal) => recordsOf({ session, signal }, isEnded));

const linesOf = async function* (of: LogLine["of"], path: Path): AsyncGenerator<readonly [number, LogLine]> {
  const query = { source: "supervisor", supervisor_process: of, follow: "true" };
  let count = 0;
  for await (const told of streamed<LogEvent>(`/browsers/${inPath(path.session)}/logs/stream`, query, path.signal))
    yield [count++, { of, at: Date.parse(told.timestamp), text: told.message }];
};

/** A log of an active session; nothing while it is not wanted. */
export const useLog = (of: LogLine["of"], session: string, isWanted: boolean): Found<LogLine> =>
  useItems(isWanted ? session : undefined, (signal) => linesOf(of, { session, signal }));
