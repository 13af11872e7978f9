import { expect, test } from "vitest";
import { epochsBind } from "./epochs-bind.ts";
import { exclusiveUse } from "./exclusive-use.ts";
import { holdersKeepBrowsers } from "./holders-keep-browsers.ts";
import { agent, change, held, inOrder, pod, poolIs, released, scripts } from "./small-history.ts";

const find = (...parts: Parameters<typeof inOrder>): string[] =>
  exclusiveUse.find(inOrder(...parts)).map(({ what }) => what);

const first = [held([0, 10], "s1"), agent(5, "b", "bound", { session: "s1", seq: 1 })];

test("one holder after the other is well", () => {
  expect(
    find(
      ...first,
      released([50, 60], "s1"),
      agent(55, "b", "ended", { session: "s1", seq: 1 }),
      held([40, 70], "s2"),
      agent(65, "b", "bound", { session: "s2", seq: 2 }),
      // Another browser at the same time, and a client that dies and leaves its session to the end of the pod.
      held([0, 12], "s3"),
      agent(6, "b2", "bound", { session: "s3", seq: 1 }),
      agent(900, "b2", "exit"),
    ),
  ).toEqual([]);
});

test("two clients who hold one browser at the same time are found", () => {
  // The agents' fence is gone too: no line of its log shows an end.
  const found = find(...first, held([20, 30], "s2"), agent(25, "b", "bound", { session: "s2", seq: 2 }));
  expect(found).toContain("sessions s1 and s2 held browser pod-b at the same time");
  expect(found).toContain("the lease of s1 was replaced at pod-b while its client counted on it");
});

test("a lease that ends under its client's hands is found, and so is one that had ended before its client was told", () => {
  expect(find(...first, agent(20, "b", "ended", { session: "s1", seq: 1 }), released([50, 60], "s1"))).toEqual([
    "the lease of s1 was ended at pod-b while its client counted on it",
  ]);
  expect(find(...first, agent(7, "b", "ended", { session: "s1", seq: 1 }))).toHaveLength(1);
});

test("a lease that ends with its pool, which is deleted by force, is well, unless it had ended before", () => {
  const ended = agent(20, "b", "ended", { session: "s1", seq: 1 });
  expect(find(...first, poolIs(15, "delete", {}), ended)).toEqual([]);
  expect(find(...first, ended, poolIs(25, "delete", {}))).toHaveLength(1);
  // The first call's answer was lost, and the deletion was asked for again.
  expect(find(...first, poolIs(15, "delete", {}), ended, poolIs(25, "delete", {}))).toEqual([]);
});

test("a session whose caller never learned of it may be taken back", () => {
  expect(
    find(agent(5, "b", "bound", { session: "s1", seq: 1 }), agent(9, "b", "ended", { session: "s1", seq: 1 })),
  ).toEqual([]);
});

test("a session that was bound on two browsers before its caller was told has the last one", () => {
  const twice = [
    agent(5, "b", "bound", { session: "s1", seq: 1 }),
    agent(20, "c", "bound", { session: "s1", seq: 1 }),
    held([0, 30], "s1"),
  ];
  const next = [agent(40, "b", "ended", { session: "s1", seq: 1 }), agent(45, "b", "bound", { session: "s2", seq: 2 })];
  expect(find(...twice, ...next, held([35, 50], "s2"))).toEqual([]);
  expect(find(...twice, agent(40, "c", "ended", { session: "s1", seq: 1 }))).toHaveLength(1);
});

test("a session that was bound twice on one browser before its caller was told has the last of the two leases", () => {
  const again = [
    agent(5, "b", "bound", { session: "s1", seq: 1 }),
    agent(20, "b", "ended", { session: "s1", seq: 1 }),
    agent(25, "b", "bound", { session: "s1", seq: 2 }),
    held([0, 30], "s1"),
  ];
  expect(find(...again)).toEqual([]);
  expect(find(...again, agent(28, "b", "ended", { session: "s1", seq: 2 }))).toHaveLength(1);
  expect(find(...again, agent(40, "b", "ended", { session: "s1", seq: 2 }))).toHaveLength(1);
});

test("a browser that is destroyed under its holder is found, unless its pool goes or its process has ended", () => {
  const destroyed = (phase: string, ...more: Parameters<typeof inOrder>) =>
    holdersKeepBrowsers.find(inOrder(...first, pod(500, "b", "MODIFIED", { phase, deletionAt: "x" }), ...more));
  expect(destroyed("Running")).toMatchObject([{ what: "pod-b was deleted while session s1 used it" }]);
  expect(destroyed("Failed")).toEqual([]);
  expect(destroyed("Running", released([100, 110], "s1"))).toEqual([]);
  expect(destroyed("Running", poolIs(400, "delete", {}))).toEqual([]);
});

test("an eviction that leaves the browser to who uses it is well; one that stops its agent is found", () => {
  const drain = {
    kind: "fault",
    at: 400,
    phase: "begin",
    id: "1",
    fault: "pod-drain",
    details: { pods: ["b"] },
  } as const;
  const evicted = pod(500, "b", "MODIFIED", { phase: "Running", deletionAt: "x" });
  const exit = agent(600, "b", "exit", { code: "stopped" });
  const find = (...more: Parameters<typeof inOrder>) =>
    holdersKeepBrowsers.find(inOrder(...first, drain, evicted, ...more)).map(({ what }) => what);
  expect(find()).toEqual([]);
  expect(find(released([550, 560], "s1"), exit)).toEqual([]);
  expect(find(exit)).toEqual(["pod-b stopped while session s1 used it"]);
  expect(find(poolIs(520, "delete", {}), exit)).toEqual([]);
});

const entered = scripts([
  [0, "establish", { what: "epoch", epoch: 2 }],
  [100, "repair", change.state("b", "none", "idle")],
]);
const boundUnder = (at: number, epoch: number) => agent(at, "b", "bound", { session: "s1", seq: 1, epoch });
const raised = (at: number, epoch: number) => agent(at, "b", "raised", { epoch });

test("a browser that comes in under an epoch to which its agent was raised is well", () => {
  expect(epochsBind.find(inOrder(entered, boundUnder(50, 1), raised(90, 2), boundUnder(150, 2)))).toEqual([]);
});

test("a bind of an older epoch is found once the browser has come in, and so is an agent that was not raised", () => {
  expect(epochsBind.find(inOrder(entered, raised(90, 2), boundUnder(150, 1)))).toHaveLength(1);
  expect(epochsBind.find(inOrder(entered, raised(90, 1), boundUnder(150, 2)))).toHaveLength(1);
  expect(epochsBind.find(inOrder(entered, boundUnder(150, 2)))).toHaveLength(1);
});
