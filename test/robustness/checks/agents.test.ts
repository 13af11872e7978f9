import { expect, test } from "vitest";
import { commandsByHolder } from "./commands-by-holder.ts";
import { heldMeansBound } from "./held-means-bound.ts";
import { risingFences } from "./rising-fences.ts";
import { agent, held, inOrder } from "./small-history.ts";

const bound = (at: number, session: string, seq: number, epoch = 1) => agent(at, "b", "bound", { session, seq, epoch });
const command = (at: number, session: string) => agent(at, "b", "cdp", { session, holder: session });

test("fences that rise are well, by sequence or by epoch, and so is a bind that is repeated", () => {
  const log = [bound(1, "s1", 1), bound(2, "s1", 1), bound(3, "s2", 2), agent(4, "b", "raised", { epoch: 2 })];
  expect(risingFences.find([...log, bound(5, "s3", 3, 2)])).toEqual([]);
});

test("an agent that takes an older fence is found, also one that is only older than what it was asked under", () => {
  expect(risingFences.find([bound(1, "s1", 2), bound(2, "s2", 2)])).toHaveLength(1);
  expect(risingFences.find([bound(1, "s1", 2), bound(2, "s2", 1)])).toHaveLength(1);
  const raised = agent(2, "b", "raised", { epoch: 2 });
  expect(risingFences.find([bound(1, "s1", 1), raised, bound(3, "s2", 2)])).toHaveLength(1);
  expect(risingFences.find([agent(1, "b", "ended", { session: "s1", seq: 3 }), bound(2, "s1", 2)])).toHaveLength(1);
});

test("commands of the holder are well", () => {
  const log = [bound(1, "s1", 1), command(2, "s1"), agent(3, "b", "ended", { session: "s1", seq: 1 })];
  expect(commandsByHolder.find([...log, bound(4, "s2", 2), command(5, "s2")])).toEqual([]);
});

test("a command of an ended session, of an older one or of nobody's is found", () => {
  const ended = agent(3, "b", "ended", { session: "s1", seq: 1 });
  expect(commandsByHolder.find([bound(1, "s1", 1), ended, command(2000, "s1")])).toHaveLength(1);
  expect(commandsByHolder.find([bound(1, "s1", 1), ended, command(4, "s1")])).toEqual([]);
  expect(commandsByHolder.find([bound(1, "s1", 1), ended, bound(4, "s2", 2), command(5, "s1")])).toHaveLength(1);
  expect(commandsByHolder.find([bound(1, "s1", 1), bound(2, "s2", 2), command(4, "s1")])).toHaveLength(1);
  expect(commandsByHolder.find([command(4, "s1")])).toHaveLength(1);
});

test("a browser that was handed out before its agent took the lease, or without, is found", () => {
  expect(heldMeansBound.find(inOrder(held([0, 10], "s1"), bound(5, "s1", 1)))).toEqual([]);
  expect(heldMeansBound.find(inOrder(held([0, 10], "s1"), bound(15, "s1", 1)))).toHaveLength(1);
  expect(heldMeansBound.find(held([0, 10], "s1"))).toHaveLength(1);
});
