import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { AuditLine, LeftOutLine } from "./audit-line.ts";
import { createRecentLines, type RecentLines } from "./recent-lines.ts";

let nowMs: number;
let batches: { project: string | null; lines: string[] }[];
let missing: Record<string, number>;
let problems: unknown[];
/** What Redis does with a batch. */
let take: () => Promise<void>;
let recent: RecentLines;
beforeEach(() => {
  vi.useFakeTimers();
  nowMs = Date.parse("2026-01-01T00:00:00Z");
  [batches, missing, problems] = [[], {}, []];
  take = async () => undefined;
  recent = createRecentLines({
    replica: "api-0",
    store: {
      async append(project, lines) {
        await take();
        batches.push({ project, lines: [...lines] });
      },
    },
    onLeftOut: (reason, count) => {
      missing[reason] = (missing[reason] ?? 0) + count;
    },
    onProblem: (error) => void problems.push(error),
    now: () => nowMs,
  });
});
afterEach(() => vi.useRealTimers());

const add = (project: string | null, count = 1, more: Partial<AuditLine> = {}): void => {
  for (let i = 0; i < count; i++) {
    const line = AuditLine.parse({
      ...{ stream: "audit", time: new Date(nowMs).toISOString(), replica: "api-0", request_id: `r${i}` },
      ...{ address: "10.0.0.1", key_id: null, project, verb: "deleteVault", object: "/vaults/{id_or_name}" },
      ...{ result: "done", status: 200, ...more },
    });
    recent.add(line, JSON.stringify(line));
  }
};

const pass = async (ms: number): Promise<void> => {
  for (let passed = 0; passed < ms; passed += 250) {
    nowMs += 250;
    await vi.advanceTimersByTimeAsync(250);
  }
};

const linesOf = (project: string | null): string[] =>
  batches.filter((batch) => batch.project === project).flatMap(({ lines }) => lines);

const countsOf = (project: string | null): LeftOutLine[] =>
  linesOf(project).flatMap((json) => LeftOutLine.safeParse(JSON.parse(json)).data ?? []);

const isAway = async (): Promise<void> => {
  throw new Error("Redis is away");
};

describe("recent lines", () => {
  // AUDIT-5
  test("are sent together a moment later, those of each project apart", async () => {
    add("a", 3);
    add(null);
    add("b");
    expect(batches).toEqual([]);
    await pass(250);
    expect(batches.map(({ project, lines }) => [project, lines.length])).toEqual([
      ["a", 3],
      [null, 1],
      ["b", 1],
    ]);
    await pass(10_000);
    expect(batches).toHaveLength(3);
    expect(missing).toEqual({});
  });

  // AUDIT-7
  test("of one project are a hundred a second, and one line counts the others", async () => {
    const since = new Date(nowMs).toISOString();
    add("busy", 1000);
    add("quiet", 100);
    await pass(1000);
    add("busy", 300);
    await pass(10_000);
    expect(linesOf("busy")).toHaveLength(201);
    expect(linesOf("quiet")).toHaveLength(100);
    const { time, ...count } = countsOf("busy")[0] as LeftOutLine;
    expect(count).toEqual({ stream: "audit", replica: "api-0", project: "busy", left_out: 1100, since });
    expect(Date.parse(time)).toBeLessThanOrEqual(Date.parse(since) + 11_000);
    expect(missing).toEqual({ left_out: 1100 });
    await pass(60_000);
    expect(countsOf("busy")).toHaveLength(1);
  });

  // AUDIT-7
  test("by a clock that is set back are kept", async () => {
    add("a", 100);
    nowMs -= 3_600_000;
    add("a", 100);
    await pass(250);
    expect(linesOf("a")).toHaveLength(200);
  });

  // AUDIT-7
  test("are counted while Redis is away, and told of once when it is back", async () => {
    take = isAway;
    for (let second = 0; second < 60; second++) {
      add("a", 10);
      await pass(1000);
    }
    expect(batches).toEqual([]);
    expect(problems).toHaveLength(1);
    const { not_kept = 0 } = missing;
    expect(not_kept).toBeGreaterThan(500);
    take = async () => undefined;
    await pass(10_000);
    expect(countsOf("a")).toMatchObject([{ left_out: not_kept, since: "2026-01-01T00:00:00.250Z" }]);
    expect(linesOf("a")).toHaveLength(601 - not_kept);
    take = isAway;
    add("a");
    await pass(1000);
    expect(problems).toHaveLength(2);
  });

  // AUDIT-5, AUDIT-7
  test("wait in a bounded number while Redis says nothing", async () => {
    take = () => new Promise(() => undefined);
    add("a");
    await pass(250);
    for (let project = 0; project < 200; project++) add(`p${project}`, 100);
    expect(missing).toEqual({ not_kept: 15_001 });
    for (let project = 0; project < 2000; project++) add(`q${project}`);
    expect(missing.not_kept).toBe(15_001 + 799);
    expect(missing.left_out).toBe(2000 - 799);
  });

  // AUDIT-7
  test("that are too long are counted", async () => {
    add("a", 1, { object: "x".repeat(10_000) });
    await pass(250);
    expect(batches).toEqual([]);
    expect(missing).toEqual({ left_out: 1 });
  });

  // AUDIT-7
  test("are sent at the end of the process, with the counts", async () => {
    add("a", 110);
    await recent.close();
    expect(linesOf("a")).toHaveLength(101);
    expect(countsOf("a")).toMatchObject([{ left_out: 10 }]);
  });
});
