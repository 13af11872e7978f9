/** What telemetry tells of a session: all that is kept, and of an active one what comes. */
import { useEffect, useState } from "preact/hooks";
import type { TelemetryRecord } from "../../../telemetry/telemetry-event.ts";
import { ApiError, inPath, open, type Page, readPage } from "./api.ts";
import { readEvents } from "./read-events.ts";

/** `isWhole`: all that was kept is there. */
type Story = { records: readonly TelemetryRecord[]; isWhole: boolean; error: unknown };

/** The oldest go when there are more. */
const mostRecords = 5000;

/** The view is told at most so often, ms. */
const tellMs = 250;

type Path = { session: string; signal: AbortSignal };

const followed = async function* ({ session, signal }: Path): AsyncGenerator<TelemetryRecord> {
  const path = `/browsers/${inPath(session)}/telemetry/stream`;
  const response = await open("GET", path, { query: { replay: "all" }, signal });
  for await (const { event, data } of response.body ? readEvents(response.body) : []) {
    const told = JSON.parse(data);
    if (event === "error") throw new ApiError(0, told.error?.code, told.error?.message);
    yield told as TelemetryRecord;
  }
};

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

/** The story of a session. */
export const useStory = (session: string, isEnded: boolean): Story => {
  const [story, setStory] = useState<Story>({ records: [], isWhole: false, error: undefined });
  useEffect(() => {
    const gone = new AbortController();
    const known = new Map<number, TelemetryRecord>();
    let telling: ReturnType<typeof setTimeout> | undefined;
    const tell = (more: Partial<Story> = {}): void => {
      clearTimeout(telling);
      telling = undefined;
      if (!gone.signal.aborted) setStory((before) => ({ ...before, ...more, records: [...known.values()] }));
    };
    const read = async (): Promise<void> => {
      for await (const record of (isEnded ? kept : followed)({ session, signal: gone.signal })) {
        known.set(record.seq, record);
        const [oldest] = known.keys();
        if (known.size > mostRecords && oldest !== undefined) known.delete(oldest);
        telling ??= setTimeout(() => tell(), tellMs);
      }
    };
    read().then(
      () => tell({ isWhole: true, error: undefined }),
      (error: unknown) => tell({ isWhole: true, error }),
    );
    return () => {
      gone.abort();
      clearTimeout(telling);
    };
  }, [session, isEnded]);
  return story;
};
