import { expect, test } from "vitest";
import type { InspectResult } from "../../leases/inspect.ts";
import { createInspectionMemory } from "./inspections.ts";

const of = { podUid: "pod", poolUid: "pool", epoch: 3 };
const done = { is: "done" } as InspectResult;
const silent = { is: "silent" } as InspectResult;
const ahead = (epoch: number) => ({ is: "ahead", epoch }) as InspectResult;

/** A memory that is told results at these times, ms. */
const told = (...results: [atMs: number, InspectResult][]) => {
  let nowMs = 0;
  const memory = createInspectionMemory(() => nowMs);
  for (const [atMs, result] of results) {
    nowMs = atMs;
    memory.noteResult(of, result);
  }
  return memory;
};

// LEASE-39
test("an agent fails since the first of the inspections in a row that it missed", () => {
  expect(told([10, silent]).lastInspection("pod")).toEqual({ atMs: 10, epoch: 3, failures: 1, failingSinceMs: 10 });
  expect(told([10, silent], [20, silent]).lastInspection("pod")).toMatchObject({ failures: 2, failingSinceMs: 10 });
  const answered = told([10, silent], [20, done]);
  expect([answered.lastInspection("pod")?.failures, answered.isFailing("pod")]).toEqual([0, false]);
  const missedOne = told([10, silent], [20, done], [900, silent]);
  expect(missedOne.lastInspection("pod")).toMatchObject({ failures: 1, failingSinceMs: 900 });
  expect(missedOne.isFailing("pod")).toBe(true);
});

test("an agent that is ahead tells its pool's epoch, the highest counts, and the inspection is as before", () => {
  const memory = told([10, silent], [20, ahead(7)], [30, ahead(5)]);
  expect(memory.agentEpoch("pool")).toBe(7);
  expect(memory.lastInspection("pod")).toMatchObject({ atMs: 10, failures: 1 });
});

test("nothing is known of what is new, or is forgotten", () => {
  const memory = told([10, silent], [20, ahead(7)]);
  memory.noteAsked("pod", 3);
  expect(memory.askedUnder("pod")).toBe(3);
  for (const uid of ["pod", "pool"]) memory.forget(uid);
  for (const some of [memory, told()]) {
    expect(some.lastInspection("pod")).toBeUndefined();
    expect([some.askedUnder("pod"), some.agentEpoch("pool"), some.isFailing("pod")]).toEqual([0, 0, false]);
  }
});
