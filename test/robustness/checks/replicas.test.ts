import { expect, test } from "vitest";
import type { HistoryEvent } from "../history/history.ts";
import { foreignPodsStay } from "./foreign-pods-stay.ts";
import { noGrantToTheFrozen } from "./no-grant-to-the-frozen.ts";
import { noVerdictBy401 } from "./no-verdict-by-401.ts";
import { change, fault, held, inOrder, scripts } from "./small-history.ts";
import { wrongClockServes } from "./wrong-clock-serves.ts";

const { granted, queued, state } = change;

const frozen = fault([1000, 9000], "api-freeze", { replica: "api-a" });
const grantedAt = (at: number, channel: string) =>
  scripts([
    [500, "take", queued("s1", 1)],
    [at, "offer", granted("s1", "b", 1, channel)],
  ]);

test("grants to a replica that has just stopped, to another one and after it goes on are well", () => {
  expect(noGrantToTheFrozen.find(inOrder(frozen, grantedAt(4000, "bp:{p}:grants:api-a-1")))).toEqual([]);
  expect(noGrantToTheFrozen.find(inOrder(frozen, grantedAt(8000, "bp:{p}:grants:api-b-1")))).toEqual([]);
  expect(noGrantToTheFrozen.find(inOrder(frozen, grantedAt(9001, "bp:{p}:grants:api-a-1")))).toEqual([]);
});

test("a grant to a replica that has stood still for seconds is found", () => {
  expect(noGrantToTheFrozen.find(inOrder(frozen, grantedAt(8000, "bp:{p}:grants:api-a-1")))).toMatchObject([
    { what: "s1 was granted a browser when its replica had stood still for 7000 ms" },
  ]);
});

test("browsers that are taken out for a reason of their own are well", () => {
  const told = scripts([
    [1, "suspect", state("b", "releasing", "suspect", { reason: "not_holder" })],
    [2, "repair", state("b", "suspect", "retired", { reason: "unreachable" })],
  ]);
  expect(noVerdictBy401.find(told)).toEqual([]);
});

test("a browser that is taken out by a 401 is found", () => {
  const told = scripts([
    [1, "reject", state("b", "leased", "suspect", { reason: "unauthorized" })],
    [2, "repair", state("b", "suspect", "retired", { reason: "unauthorized" })],
  ]);
  expect(noVerdictBy401.find(told)).toHaveLength(2);
});

const wrong = fault([1000, 12_000], "clock-behind", { replica: "api-a" });
const started: HistoryEvent = { kind: "process", at: 1500, what: "start", role: "api", name: "api-a", pid: 1 };
const sessions = ["s1", "s2", "s3", "s4", "s5"];
const grantedTo = (replica: string) =>
  scripts(
    sessions.map((session, index) => [
      5000 + index,
      "take",
      granted(session, "b", index, `bp:{p}:grants:${replica}-1`),
    ]),
  );

test("a replica with a wrong clock is well when its callers get browsers, and while another fault is at work", () => {
  const served = inOrder(wrong, started, grantedTo("api-a"));
  expect(wrongClockServes.find(inOrder(served, held([5000, 5100], "s3")))).toEqual([]);
  expect(wrongClockServes.find(inOrder(served, fault([4000, 6000], "agents-dead")))).toEqual([]);
  expect(wrongClockServes.find(inOrder(wrong, started, grantedTo("api-b")))).toEqual([]);
});

test("a replica with a wrong clock whose callers never get what they are granted is found", () => {
  expect(wrongClockServes.find(inOrder(wrong, started, grantedTo("api-a")))).toMatchObject([
    { what: "api-a had a wrong clock, and none of 5 browsers that it was granted came to a caller" },
  ]);
});

test("only a pod that was deleted during the fault is found", () => {
  const of = (...deleted: string[]): HistoryEvent[] =>
    fault([1000, 4000], "foreign-pod").map(
      (event) =>
        ("phase" in event && event.phase === "end" ? { ...event, details: { deleted } } : event) as HistoryEvent,
    );
  expect(foreignPodsStay.find(of())).toEqual([]);
  expect(foreignPodsStay.find(fault([1000, 4000], "foreign-pod"))).toEqual([]);
  expect(foreignPodsStay.find(of("no-owner-1"))).toMatchObject([
    { what: "the pod no-owner-1, which is no pool's own, was deleted" },
  ]);
});
