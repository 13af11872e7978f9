import { expect, test } from "vitest";
import { nothingLost } from "./nothing-lost.ts";
import { oneSessionPerRequest } from "./one-session-per-request.ts";
import { sessionsEnd } from "./sessions-end.ts";
import { agent, change, held, inOrder, pod, released, scripts, theEnd } from "./small-history.ts";

const { ended, granted, queued, state } = change;

const warm = scripts([[0, "add", state("b", "none", "idle")]]);
const taken = scripts(
  [[1, "take", queued("s1", 1), state("b", "idle", "leased", { session: "s1" }), granted("s1", "b", 1)]],
  { after: warm },
);
const givenBack = scripts(
  [
    [2, "release", ended("s1", "b"), state("b", "leased", "releasing")],
    [3, "offer", state("b", "releasing", "idle")],
  ],
  { after: taken },
);

test("a browser that goes round is conserved, also when Redis loses a part of the way", () => {
  expect(nothingLost.find([...warm, ...taken, ...givenBack, theEnd(9)])).toEqual([]);
  const again = scripts([[8, "release", ended("s1", "b"), state("b", "leased", "releasing")]], { after: taken });
  expect(nothingLost.find([...warm, ...taken, ...givenBack, ...again])).toEqual([]);
});

test("a browser whose state changes without a script is found", () => {
  const wrong = scripts([[2, "offer", state("b", "releasing", "idle")]], { after: warm });
  expect(nothingLost.find([...warm, ...wrong])).toMatchObject([
    { what: "browser b was idle, and offer found it releasing" },
  ]);
});

test("what a master wrote after it had lost its place is judged by what it had", () => {
  const late = scripts([[2.5, "release", ended("s1", "b"), state("b", "leased", "releasing")]], { after: taken });
  const goesOn = scripts([[4, "retire", state("b", "idle", "none")]], { after: givenBack });
  expect(nothingLost.find(inOrder(warm, taken, givenBack, late, goesOn))).toEqual([]);
  const wrong = scripts([[4, "retire", state("b", "releasing", "none")]], { after: givenBack });
  expect(nothingLost.find(inOrder(warm, taken, givenBack, late, wrong))).toHaveLength(1);
});

test("of what was missed nothing is said", () => {
  const missed = scripts([[5, "add", state("c", "none", "releasing")]], { after: taken });
  const later = scripts([[9, "offer", state("c", "releasing", "idle")]], { after: missed });
  expect(nothingLost.find([...warm, ...taken, ...later])).toEqual([]);
});

test("a leased browser without a lease, and a lease of a browser that is idle, are found", () => {
  const half = scripts([[1, "take", state("b", "idle", "leased", { session: "s1" })]], { after: warm });
  expect(nothingLost.find([...warm, ...half])).toHaveLength(1);
  const other = scripts([[1, "take", granted("s1", "b", 1)]], { after: warm });
  expect(nothingLost.find([...warm, ...other])).toHaveLength(1);
});

test("everything that is left over or missing at the end is named", () => {
  const record = { id: "b", pod: "pod-b", address: "a:1", config: "h", seq: 1, state: "suspect", since: 0 } as const;
  const faults = (pool: Parameters<typeof theEnd>[1]) => nothingLost.find([theEnd(9, pool)]).map(({ what }) => what);
  expect(faults({})).toEqual([]);
  expect(faults({ size: 2 })).toEqual(["pool pool at the end: 1 pods instead of 2"]);
  expect(faults({ browsers: [] })).toEqual(["pool pool at the end: pod-b is not known to the leases"]);
  expect(faults({ browsers: [record] })).toEqual(["pool pool at the end: pod-b is suspect, and nobody uses it"]);
  expect(faults({ pods: [], size: 0 })).toEqual(["pool pool at the end: pod-b is recorded as idle, and it is gone"]);
  expect(faults({ pods: [{ browser: "b", pod: "pod-b", phase: "Running", ready: true, marked: true }] })).toEqual([
    "pool pool at the end: pod-b shows that it is in use, and nobody uses it",
  ]);
  expect(faults({ waiters: ["s"] })).toEqual(["pool pool at the end: session s still waits"]);
});

test("a session that ended in Redis is well, and where Redis lost it, one that ended at its agent", () => {
  const hold = [...held([0, 2], "s1"), ...released([5, 6], "s1")];
  expect(sessionsEnd.find(inOrder(hold, warm, taken, givenBack, theEnd(9)))).toEqual([]);
  const flushed = scripts([[4, "add", state("b", "none", "idle")]]);
  const atAgent = [
    agent(1, "b", "bound", { session: "s1", seq: 1 }),
    agent(5, "b", "ended", { session: "s1", seq: 1 }),
  ];
  expect(sessionsEnd.find(inOrder(hold, warm, taken, flushed, atAgent, theEnd(9)))).toEqual([]);
});

test("a session without an end, a pod that vanished and a state without a reason are found", () => {
  expect(sessionsEnd.find(inOrder(held([0, 2], "s1"), warm, taken, theEnd(9)))).toHaveLength(1);
  expect(sessionsEnd.find([pod(0, "b", "ADDED"), pod(5, "b", "DELETED")])).toHaveLength(1);
  expect(sessionsEnd.find([pod(0, "b", "ADDED"), pod(5, "b", "DELETED", { deletionAt: "x" })])).toEqual([]);
  expect(sessionsEnd.find(scripts([[1, "retire", state("b", "idle", "retired")]]))).toHaveLength(1);
  expect(sessionsEnd.find(scripts([[1, "retire", state("b", "idle", "retired", { reason: "Surplus" })]]))).toEqual([]);
});

test("a session that answers two requests, and a request with two browsers, are found", () => {
  const key = { idempotencyKey: "k" };
  expect(oneSessionPerRequest.find([...held([0, 2], "s1", key), ...held([0, 3], "s1", key)])).toEqual([]);
  expect(oneSessionPerRequest.find([...held([0, 2], "s1"), ...held([0, 3], "s1")])).toHaveLength(1);
  expect(oneSessionPerRequest.find([...held([0, 2], "s1", key), ...held([0, 3], "s2", key)])).toHaveLength(1);
  const grants = scripts([
    [1, "take", { ...granted("s1", "b", 1), request: "w" } as never],
    [2, "take", { ...granted("s2", "c", 2), request: "w" } as never],
  ]);
  expect(oneSessionPerRequest.find(inOrder(held([0, 5], "s2", { request: "w" }), grants))).toHaveLength(1);
});
