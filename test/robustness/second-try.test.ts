import { expect, test, vi } from "vitest";
import type { Finding } from "./checks/all-checks.ts";
import type { HistoryRequest, HistoryResult, RunResults } from "./run-histories.ts";
import { runWithSecondTry } from "./second-try.ts";

const unsafe: Finding = { check: "exclusive-use", kind: "safety", what: "two held one browser", events: [] };
const late: Finding = { check: "comes-to-rest", kind: "timing", what: "31 s", events: [] };
const grown: Finding = { check: "no-growth", kind: "timing", what: "the heap grows", events: [] };

const requests: HistoryRequest[] = [1, 2, 3].map((seed) => ({ seed, loadMs: 1, faults: [] }));

const result = (seed: number, ...findings: Finding[]): HistoryResult => ({
  seed,
  faults: [],
  acquires: 0,
  held: 0,
  seconds: 0,
  findings,
  undecided: 0,
});

/** Answers with `tries` one after the other: what each finds, by seed. */
const runOf = (...tries: { [seed: number]: Finding[]; growth?: Finding[] }[]) =>
  vi.fn(async (asked: HistoryRequest[]): Promise<RunResults> => {
    const { growth = [], ...found } = tries.shift() ?? {};
    return { results: asked.map(({ seed }) => result(seed, ...(found[seed] ?? []))), growth };
  });

const seedsOf = (run: ReturnType<typeof runOf>): number[][] =>
  run.mock.calls.map(([asked]) => asked.map(({ seed }) => seed));

test("a violation of a safety check fails the run at once, though a timing check found something too", async () => {
  const run = runOf({ 1: [late], 2: [late, unsafe] });
  const { failed, unsteady } = await runWithSecondTry(requests, { run, mayTryAgain: () => true });
  expect(seedsOf(run)).toEqual([[1, 2, 3]]);
  expect(failed.map(({ seed }) => seed)).toEqual([1, 2]);
  expect(unsteady).toEqual([]);
});

test("a history in which only timing checks found something runs once more from its seed, and passes as unsteady", async () => {
  const run = runOf({ 2: [late] }, {});
  const { results, failed, unsteady } = await runWithSecondTry(requests, { run, mayTryAgain: () => true });
  expect(seedsOf(run)).toEqual([[1, 2, 3], [2]]);
  expect(failed).toEqual([]);
  expect(results).toHaveLength(4);
  expect(unsteady).toEqual([{ name: "robustness: comes-to-rest with seed 2", firstError: "31 s" }]);
});

test("whatever the second try finds fails the run", async () => {
  for (const found of [late, unsafe]) {
    const run = runOf({ 2: [late], 3: [late] }, { 3: [found] });
    const { failed, unsteady } = await runWithSecondTry(requests, { run, mayTryAgain: () => true });
    expect(failed).toEqual([result(3, found)]);
    expect(unsteady).toMatchObject([{ name: "robustness: comes-to-rest with seed 2" }]);
  }
});

test("without time for a second try the first one counts", async () => {
  const run = runOf({ 2: [late], growth: [grown] });
  const { failed, growth, unsteady } = await runWithSecondTry(requests, { run, mayTryAgain: () => false });
  expect(seedsOf(run)).toHaveLength(1);
  expect(failed.map(({ seed }) => seed)).toEqual([2]);
  expect({ growth, unsteady }).toEqual({ growth: [grown], unsteady: [] });
});

test("growth is looked for in all histories once more", async () => {
  const passing = runOf({ growth: [grown] }, {});
  const passed = await runWithSecondTry(requests, { run: passing, mayTryAgain: () => true });
  expect(seedsOf(passing)).toEqual([
    [1, 2, 3],
    [1, 2, 3],
  ]);
  expect(passed).toMatchObject({ growth: [], unsteady: [{ name: "robustness: no-growth" }] });
  const failing = runOf({ growth: [grown] }, { growth: [grown] });
  const again = await runWithSecondTry(requests, { run: failing, mayTryAgain: () => true });
  expect(again).toMatchObject({ growth: [grown], unsteady: [] });
});
