import { expect, test } from "vitest";
import { firstCome } from "./first-come.ts";
import { noStarvation } from "./no-starvation.ts";
import { nothingLeftBehind } from "./nothing-left-behind.ts";
import { agent, change, fault, held, inOrder, mark, operation, scripts } from "./small-history.ts";
import { ticketsRise } from "./tickets-rise.ts";

const { granted, left, queued, state } = change;

test("grants in the order of tickets are well, also past callers who left, and after a flush", () => {
  const before = scripts([
    [1, "take", queued("s1", 1)],
    [2, "take", queued("s2", 2)],
    [3, "take", queued("s3", 3)],
    [4, "cancel", left("s1")],
    [5, "offer", granted("s2", "b", 2)],
  ]);
  // s3 has not come back to the queue yet.
  const flushed = scripts([[10, "take", queued("s4", 4), granted("s4", "b", 4)]]);
  expect(firstCome.find([...before, ...flushed])).toEqual([]);
});

test("a later caller who is served first is found, also one who jumps over what a failover left", () => {
  const jumped = scripts([
    [1, "take", queued("s1", 1)],
    [2, "take", queued("s2", 2)],
    [3, "offer", granted("s2", "b", 2)],
  ]);
  expect(firstCome.find(jumped)).toMatchObject([{ what: "s2 with ticket 2 was served before s1 with ticket 1" }]);
  const lost = scripts([[4, "take", queued("s3", 3), granted("s3", "b", 3)]], { after: jumped.slice(0, 1) });
  expect(firstCome.find([...jumped.slice(0, 2), ...lost])).toHaveLength(1);
});

const called = (at: number, request: string) =>
  operation([at, at + 50], { op: "acquire", request }, { outcome: "timeout" });

test("tickets rise over a loss, and callers come back with theirs", () => {
  const before = scripts([[100, "take", queued("s1", 10, "w1")]]);
  const after = scripts([
    [500, "take", queued("s3", 30, "w3")],
    [600, "take", queued("s1", 10, "w1")],
    // Called before the loss too, and was never seen.
    [700, "take", queued("s2", 9, "w2")],
  ]);
  expect(ticketsRise.find(inOrder(before, after, called(99, "w1"), called(98, "w2"), called(450, "w3")))).toEqual([]);
});

test("tickets that begin anew, and a place that is lost, are found", () => {
  const before = scripts([[100, "take", queued("s1", 10, "w1")]]);
  const anew = scripts([[905, "take", queued("s3", 1, "w3")]]);
  expect(ticketsRise.find(inOrder(before, anew, called(99, "w1"), called(900, "w3")))).toHaveLength(1);
  const worseAt = (at: number) => scripts([[at, "take", queued("s1", 11, "w1")]]);
  expect(ticketsRise.find(inOrder(before, worseAt(9000), called(99, "w1")))).toHaveLength(1);
  expect(ticketsRise.find(inOrder(before, worseAt(500), called(99, "w1")))).toEqual([]);
});

test("waiting while others wait too is well", () => {
  const idle = scripts([
    [0, "add", state("b", "none", "idle")],
    [100, "take", queued("s1", 1), state("b", "idle", "leased"), granted("s1", "b", 1)],
  ]);
  const waiting = operation([200, 40_000], { op: "acquire", client: "a" }, { outcome: "timeout" });
  expect(noStarvation.find(inOrder(idle, held([90, 110], "s1"), waiting))).toEqual([]);
});

test("a caller who waits beside an idle browser is found, unless a fault is at work", () => {
  const idle = scripts([[0, "add", state("b", "none", "idle")]]);
  const waiting = operation([200, 9000], { op: "acquire" }, { outcome: "timeout" });
  expect(noStarvation.find(inOrder(idle, waiting))).toHaveLength(1);
  expect(noStarvation.find(inOrder(idle, waiting, fault([100, 300], "redis-kill")))).toEqual([]);
});

test("a caller who is passed over again and again is found", () => {
  const waiting = operation([0, 40_000], { op: "acquire", client: "a" }, { outcome: "timeout" });
  const others = [held([1000, 2000], "s1"), held([10_000, 10_100], "s2"), held([17_000, 17_500], "s3")];
  expect(noStarvation.find(inOrder(waiting, ...others))).toHaveLength(1);
  expect(noStarvation.find(inOrder(waiting, ...others.slice(0, 2)))).toEqual([]);
});

const hangUp = operation([100, 200], { op: "acquire", request: "w" }, { outcome: "hung-up" });

test("a caller who hangs up and is forgotten at once is well", () => {
  const forgotten = scripts([
    [110, "take", queued("s1", 1, "w")],
    [210, "cancel", left("s1")],
  ]);
  expect(nothingLeftBehind.find(inOrder(hangUp, forgotten, mark(20_000, "load-over")))).toEqual([]);
});

test("a place in the queue or a lease that stays after its caller has hung up is found, outside of faults", () => {
  const waits = scripts([[110, "take", queued("s1", 1, "w")]]);
  const served = scripts([[300, "offer", granted("s1", "b", 1)]], { after: waits });
  const end = mark(20_000, "load-over");
  expect(nothingLeftBehind.find(inOrder(hangUp, waits, end))).toHaveLength(1);
  expect(nothingLeftBehind.find(inOrder(hangUp, waits, served, end))).toHaveLength(1);
  expect(nothingLeftBehind.find(inOrder(hangUp, waits, end, fault([150, 250], "api-kill")))).toEqual([]);
});

test("a lease that was bound before the end of its caller was heard of is left to the idle time-out", () => {
  const leased = scripts([[110, "take", queued("s1", 1, "w"), granted("s1", "b", 1)]]);
  const boundAt = (at: number) => agent(at, "b", "bound", { session: "s1", seq: 1 });
  const end = mark(20_000, "load-over");
  expect(nothingLeftBehind.find(inOrder(hangUp, leased, boundAt(198), end))).toEqual([]);
  expect(nothingLeftBehind.find(inOrder(hangUp, leased, boundAt(900), end))).toHaveLength(1);
});

test("a browser that is granted to a caller whose replica is long dead is found", () => {
  const cut = operation([100, 200], { op: "acquire", request: "w" }, { outcome: "cut" });
  const waits = scripts([[110, "take", queued("s1", 1, "w")]]);
  const grantedAt = (at: number) => scripts([[at, "offer", granted("s1", "b", 1)]], { after: waits });
  expect(nothingLeftBehind.find(inOrder(cut, waits, grantedAt(500)))).toEqual([]);
  expect(nothingLeftBehind.find(inOrder(cut, waits, grantedAt(5000), fault([190, 2000], "api-kill")))).toHaveLength(1);
  expect(nothingLeftBehind.find(inOrder(cut, waits, grantedAt(5000), fault([190, 2000], "redis-slow")))).toEqual([]);
});
