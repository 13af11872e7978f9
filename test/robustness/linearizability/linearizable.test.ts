import { describe, expect, test } from "vitest";
import { locatePrograms } from "../../../src/local/locate-programs.mjs";
import { agent, change, held, inOrder, operation, pod, released, scripts } from "../checks/small-history.ts";
import type { LeaseChange } from "../history/lease-event.ts";
import { checkLinearizable } from "./check-linearizable.ts";
import { poolOperations } from "./pool-operations.ts";

const { granted, queued, state } = change;
const b = pod(0, "b", "ADDED");
const bound = (at: number, session: string, seq: number) => agent(at, "b", "bound", { session, seq });
const ended = (at: number, session: string, seq: number) => agent(at, "b", "ended", { session, seq });

const oneAfterTheOther = [
  b,
  held([10, 20], "s1"),
  bound(15, "s1", 1),
  released([30, 40], "s1"),
  ended(35, "s1", 1),
  held([25, 50], "s2"),
  bound(45, "s2", 2),
];

test("operations have the browser that the agent told of, and the times of their calls", () => {
  const [pool] = poolOperations(inOrder(...oneAfterTheOther));
  expect(pool?.operations).toMatchObject([
    { kind: "grant", session: "s1", browser: "b", call: 10e6, return: 20e6 },
    { kind: "release", session: "s1", browser: "b", outcome: "ok", call: 30e6, return: 40e6 },
    { kind: "grant", session: "s2", browser: "b", call: 25e6, return: 50e6 },
  ]);
});

test("a request that was sent again was granted after its first call, whichever of them is answered first", () => {
  const request = { request: "key-1" };
  const again = [held([10, 50], "s1", request), held([30, 40], "s1", request)];
  const [pool] = poolOperations(inOrder(b, bound(25, "s1", 1), ...again));
  expect(pool?.operations).toMatchObject([{ kind: "grant", session: "s1", call: 10e6, return: 40e6 }]);
});

test("tickets count only where Redis lost nothing", () => {
  const entries = scripts([
    [11, "take", state("b", "none", "idle"), queued("s1", 7), granted("s1", "b", 7)],
    [26, "take", queued("s2", 9), granted("s2", "b", 9)],
  ]);
  const ticketsIn = (lost: Parameters<typeof inOrder>) =>
    poolOperations(inOrder(...oneAfterTheOther, ...lost))[0]?.operations.flatMap(({ kind, ticket }) =>
      kind === "grant" ? [ticket] : [],
    );
  expect(ticketsIn([entries])).toEqual([1, 2]);
  expect(ticketsIn([entries, scripts([[60, "add", state("c", "none", "idle")]])])).toEqual([0, 0]);
});

const program = locatePrograms(process.env).linearizability ?? "";

// Built by `node scripts/setup.mjs --robustness`, which needs Go; a run of the other tests does without.
describe.skipIf(program === "")("the verdict", () => {
  const stuck = async (...parts: Parameters<typeof inOrder>) => {
    const { findings, undecided } = await checkLinearizable(program, inOrder(...parts));
    expect(undecided).toBe(0);
    return findings.map(({ what }) => what);
  };

  test("one holder after the other can be explained", async () => {
    expect(await stuck(...oneAfterTheOther)).toEqual([]);
  });

  test("two holders of one browser can't", async () => {
    const found = await stuck(b, held([10, 20], "s1"), bound(15, "s1", 1), held([25, 50], "s2"), bound(45, "s2", 2));
    expect(found).toEqual([expect.stringContaining("stuck at: grant s2 b")]);
  });

  test("a lease that was taken back before its caller was told of the next one is not the one that the caller releases", async () => {
    const taken = [b, bound(15, "s1", 1), ended(20, "s1", 1)];
    const again = [held([10, 50], "s1"), bound(45, "s1", 3), released([60, 70], "s1"), ended(65, "s1", 3)];
    expect(await stuck(...taken, ...again)).toEqual([]);
    const between = [held([22, 32], "s2"), bound(25, "s2", 2)];
    expect(await stuck(...taken, ...between, released([34, 40], "s2"), ended(36, "s2", 2), ...again)).toEqual([]);
    expect(await stuck(...taken, ...between, ...again)).toHaveLength(1);
  });

  test("a release of unknown outcome may have happened or not", async () => {
    const cut = operation([30, 35], { op: "release", session: "s1" }, { outcome: "cut" });
    const later = [held([40, 50], "s2"), bound(45, "s2", 2)];
    expect(await stuck(b, held([10, 20], "s1"), bound(15, "s1", 1), cut, ...later)).toEqual([]);
    expect(await stuck(b, held([10, 20], "s1"), bound(15, "s1", 1), cut, released([60, 70], "s1"))).toEqual([]);
    // Repeated and told that it is done, when the first one had done it and the next caller was served.
    const done = ended(33, "s1", 1);
    const repeated = released([60, 70], "s1");
    expect(await stuck(b, held([10, 20], "s1"), bound(15, "s1", 1), cut, done, ...later, repeated)).toEqual([]);
  });

  test("a session is gone after a release without an answer, or with its browser, but not otherwise", async () => {
    const held1 = [b, held([10, 20], "s1"), bound(15, "s1", 1)];
    const gone = operation([60, 70], { op: "release", session: "s1" }, { outcome: "gone" });
    const cut = operation([30, 35], { op: "release", session: "s1" }, { outcome: "cut" });
    // The scripts' record says that Redis lost nothing; else a session may be gone for a while.
    const whole = scripts([[11, "take", granted("s1", "b", 1)]]);
    expect(await stuck(...held1, whole, cut, gone)).toEqual([]);
    expect(await stuck(...held1, whole, agent(40, "b", "exit"), gone)).toEqual([]);
    expect(await stuck(...held1, whole, agent(80, "b", "exit"), gone)).toHaveLength(1);
  });

  test("a session that was released once is gone, and two releases at a time may both be told that it is done", async () => {
    expect(await stuck(...oneAfterTheOther, released([32, 42], "s1"))).toEqual([]);
    const gone = operation([60, 70], { op: "release", session: "s1" }, { outcome: "gone" });
    expect(await stuck(...oneAfterTheOther, gone)).toEqual([]);
  });

  // s2 waits from 25 on with the lower ticket; s3 comes later, and has had its browser before s2 can have got any.
  const servedBefore = (...meanwhile: [at: number, script: string, ...changes: LeaseChange[]][]) => {
    const entries = scripts([
      [11, "take", queued("s1", 1), granted("s1", "b", 1)],
      [26, "take", queued("s2", 2)],
      ...meanwhile,
      [56, "take", queued("s3", 3), granted("s3", "c", 3)],
      ...(meanwhile.length > 0 ? [backAgain] : []),
      [85, "offer", granted("s2", "b", 2)],
    ]);
    const c = [pod(0, "c", "ADDED"), agent(60, "c", "bound", { session: "s3", seq: 1 })];
    const callers = [held([10, 20], "s1"), held([55, 65], "s3"), released([80, 90], "s1"), held([25, 99], "s2")];
    return [b, ...c, entries, ...callers, bound(15, "s1", 1), bound(95, "s2", 2)];
  };
  const backAgain: [number, string, LeaseChange] = [70, "take", queued("s2", 2)];

  test("a grant against the order of the tickets can't be explained", async () => {
    expect(await stuck(...servedBefore())).toHaveLength(1);
  });

  test("unless its caller had left the queue and came back", async () => {
    expect(await stuck(...servedBefore([50, "offer", change.left("s2")]))).toEqual([]);
  });
});
