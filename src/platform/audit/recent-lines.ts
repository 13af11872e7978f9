/**
 * Passes audit lines on to where people read recent ones, in the background: no call waits for it (AUDIT-5). What is
 * kept here is bounded: lines of a flood, and those that come while Redis is away, are counted, and one line says later
 * how many are missing.
 */
import type { AuditLine, LeftOutLine, SuppressedLine } from "./audit-line.ts";
import type { AuditLineStore } from "./audit-line-store.ts";

/** Why a line is only on stdout or in the file: it was one of too many, or Redis did not take it. */
type LeftOutReason = "left_out" | "not_kept";

export type RecentLines = {
  /** `json`: the text of the line. Never throws and never waits. */
  add(line: AuditLine | SuppressedLine, json: string): void;
  /** Sends what waits, and the counts that are still open. */
  close(): Promise<void>;
};

type RecentLinesOptions = {
  replica: string;
  store: Pick<AuditLineStore, "append">;
  /** Told of each line that readers do not find. */
  onLeftOut(reason: LeftOutReason, count: number): void;
  /** Told why lines could not be kept, once until some are kept again. */
  onProblem(error: unknown): void;
  /** ms since the epoch. */
  now?: () => number;
};

/** Lines of one project that are kept in a second. */
const perSecond = 100;

/** Lines that wait, of all projects together, and projects whose lines are counted at a time. */
const mostWaiting = 5000;
const mostProjects = 1000;

/** Longest line that is kept, characters; the longest paths and ids make less. */
const mostChars = 8192;

/** Time between two batches, ms; while Redis is away it doubles up to the longest. */
const flushEveryMs = 250;
const longestPauseMs = 4000;

/** Time after which lines that were left out are counted in a line, ms. */
const countEveryMs = 10_000;

/** The lines of one project. `sinceMs`: when the first of the lines that are left out came. */
type Waiting = { lines: string[]; secondMs: number; inSecond: number; leftOut: number; sinceMs: number };

/** Begins with the first line. Its timer does not keep the process alive. */
export const createRecentLines = ({
  replica,
  store,
  onLeftOut,
  onProblem,
  now = Date.now,
}: RecentLinesOptions): RecentLines => {
  const waiting = new Map<string | null, Waiting>();
  let count = 0;
  let timer: NodeJS.Timeout | undefined;
  let flushing: Promise<void> | undefined;
  let isKept = true;
  let isClosed = false;
  let pauseMs = flushEveryMs;

  const leaveOut = (of: Waiting, reason: LeftOutReason, lines = 1): void => {
    if (of.leftOut === 0) of.sinceMs = now();
    of.leftOut += lines;
    onLeftOut(reason, lines);
  };

  const waitingOf = (project: string | null): Waiting | undefined => {
    const known = waiting.get(project);
    if (known || waiting.size >= mostProjects) return known;
    const made = { lines: [], secondMs: now(), inSecond: 0, leftOut: 0, sinceMs: 0 };
    waiting.set(project, made);
    return made;
  };

  const isOneOfTooMany = (of: Waiting): boolean => {
    const passedMs = now() - of.secondMs;
    if (passedMs >= 1000 || passedMs < 0) Object.assign(of, { secondMs: now(), inSecond: 0 });
    of.inSecond += 1;
    return of.inSecond > perSecond;
  };

  /** The line that says how many are missing, once it is time. */
  const countLine = (project: string | null, of: Waiting, isLast: boolean): string[] => {
    const { leftOut, sinceMs } = of;
    if (leftOut === 0 || (!isLast && Math.abs(now() - sinceMs) < countEveryMs)) return [];
    const [time, since] = [now(), sinceMs].map((ms) => new Date(ms).toISOString()) as [string, string];
    return [
      JSON.stringify({ stream: "audit", time, replica, project, left_out: leftOut, since } satisfies LeftOutLine),
    ];
  };

  const send = async (project: string | null, of: Waiting, isLast: boolean): Promise<void> => {
    const { lines, leftOut, sinceMs } = of;
    const counted = countLine(project, of, isLast);
    const all = [...lines, ...counted];
    if (all.length === 0) return;
    Object.assign(of, { lines: [], ...(counted.length > 0 && { leftOut: 0 }) });
    try {
      await store.append(project, all);
      isKept = true;
    } catch (error) {
      if (isKept) onProblem(error);
      isKept = false;
      if (counted.length > 0) Object.assign(of, { leftOut: of.leftOut + leftOut, sinceMs });
      if (lines.length > 0) leaveOut(of, "not_kept", lines.length);
    } finally {
      count -= lines.length;
    }
  };

  const flush = async (isLast: boolean): Promise<void> => {
    await Promise.all([...waiting].map(([project, of]) => send(project, of, isLast)));
    pauseMs = isKept ? flushEveryMs : Math.min(pauseMs * 2, longestPauseMs);
    for (const [project, { lines, leftOut, secondMs }] of waiting)
      if (lines.length + leftOut === 0 && Math.abs(now() - secondMs) >= 1000) waiting.delete(project);
  };

  const begin = (): void => {
    if (timer || flushing || isClosed) return;
    const run = async (): Promise<void> => {
      timer = undefined;
      flushing = flush(false);
      await flushing;
      flushing = undefined;
      if (waiting.size > 0) begin();
    };
    timer = setTimeout(() => void run(), pauseMs).unref();
  };

  return {
    add(line, json) {
      const of = waitingOf("project" in line ? line.project : null);
      if (!of) return onLeftOut("left_out", 1);
      begin();
      if (json.length > mostChars || isOneOfTooMany(of)) return leaveOut(of, "left_out");
      if (count >= mostWaiting) return leaveOut(of, "not_kept");
      of.lines.push(json);
      count += 1;
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await flushing;
      await flush(true);
    },
  };
};
