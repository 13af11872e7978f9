import { expect, test } from "vitest";
import type { HistoryEvent } from "../history/history.ts";
import { comesToRest } from "./comes-to-rest.ts";
import { findGrowth } from "./no-growth.ts";
import { processesLive } from "./processes-live.ts";
import { held, inOrder, mark, operation, theEnd } from "./small-history.ts";

const marks = (convergedMs: number) => [
  mark(0, "faults-over"),
  mark(20_000, "load-over"),
  mark(convergedMs, "converged"),
];

test("a service that comes to rest in time and stays there is well", () => {
  expect(comesToRest.find(inOrder(marks(45_000), held([12_000, 12_100], "s"), theEnd(50_000)))).toEqual([]);
});

test("a service that is late, that never comes to rest or that goes on writing is found", () => {
  expect(comesToRest.find(marks(51_000))).toHaveLength(1);
  expect(comesToRest.find(marks(0).slice(0, 2))).toHaveLength(1);
  expect(comesToRest.find([theEnd(9, {}, { etcdWrites: ["pods/x MODIFIED"], redisWrites: ["evalsha"] })])).toHaveLength(
    2,
  );
});

test("a call that fails long after the last fault is found", () => {
  const failed = (at: number) => operation([at, at + 10], { op: "acquire" }, { outcome: "error", status: 503 });
  expect(comesToRest.find(inOrder(marks(21_000), failed(3000)))).toEqual([]);
  expect(comesToRest.find(inOrder(marks(21_000), failed(11_000)))).toHaveLength(1);
});

const process = (more: Partial<Extract<HistoryEvent, { kind: "process" }>>, at = 0): HistoryEvent => ({
  kind: "process",
  at,
  what: "exit",
  role: "api",
  name: "api-a",
  pid: 1,
  ...more,
});

test("an unhandled rejection and a death that nobody wanted are found", () => {
  expect(processesLive.find([process({ expected: true, signal: "SIGKILL" })])).toEqual([]);
  expect(processesLive.find([process({ code: 1 }), process({ what: "failure", message: "Error: x" })])).toHaveLength(2);
});

const heaps = (...mib: number[]): HistoryEvent[] =>
  mib.map((size, at) =>
    process({ what: "sample", sample: { heapBytes: size * 2 ** 20, sockets: 3, fds: 20, timers: 2, children: 0 } }, at),
  );

test("a heap that goes up and down, or rises once, is well; one that rises steadily is found", () => {
  expect(findGrowth(heaps(40, 47, 41, 52, 44, 40, 48, 42))).toEqual([]);
  expect(findGrowth(heaps(40, 40, 52, 50, 51, 52, 50, 51))).toEqual([]);
  expect(findGrowth(heaps(40, 43, 47, 50, 54, 57, 61, 66))).toMatchObject([
    { what: expect.stringContaining("heapBytes of api-a grows") },
  ]);
});
