import { expect, test } from "vitest";
import { exclusiveUse } from "./exclusive-use.ts";
import { agent, held, inOrder, released } from "./small-history.ts";

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

test("a session whose caller never learned of it may be taken back", () => {
  expect(
    find(agent(5, "b", "bound", { session: "s1", seq: 1 }), agent(9, "b", "ended", { session: "s1", seq: 1 })),
  ).toEqual([]);
});
