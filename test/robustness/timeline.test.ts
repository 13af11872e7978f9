import { expect, test } from "vitest";
import { agent, fault, held, inOrder, mark } from "./checks/small-history.ts";
import { timelineOf } from "./timeline.ts";

const events = inOrder(
  mark(100, "load-begin"),
  fault([110, 130], "redis-kill"),
  held([105, 120], "session-one"),
  agent(115, "browser-1", "bound", { session: "session-one", seq: 1 }),
  agent(140, "browser-2", "exit"),
);

test("a timeline shows every event with its time and the faults at work", () => {
  const lines = timelineOf(events).split("\n");
  expect(lines).toHaveLength(events.length + 1);
  expect(lines[0]).toBe("faults: A redis-kill");
  expect(lines.find((line) => line.includes("bound"))).toMatch(/^ +15\.0 {2}A +rowser-1 +bound sion-one 1\.1$/);
  expect(lines.at(-1)).toMatch(/^ +40\.0 {6} +rowser-2 +exit/);
});

test("of a finding only that is shown which has to do with it", () => {
  const proof = events.filter((event) => event.kind === "agent" && event.what === "bound");
  const text = timelineOf(events, [{ check: "c", kind: "safety", what: "w", events: proof }]);
  expect(text).toContain("acquire held sion-one");
  expect(text).toContain("redis-kill");
  expect(text).not.toContain("exit");
});
