import { expect, test } from "vitest";
import { cleanHandOver } from "./clean-hand-over.ts";
import { agent, inOrder } from "./small-history.ts";

const used = [
  agent(5, "b", "bound", { session: "s1", seq: 1 }),
  agent(10, "b", "cdp", { session: "s1", holder: "s1" }),
  agent(20, "b", "ended", { session: "s1", seq: 1 }),
];
const next = agent(40, "b", "bound", { session: "s2", seq: 2 });
const find = (...parts: Parameters<typeof inOrder>): string[] =>
  cleanHandOver.find(inOrder(...parts)).map(({ what }) => what);

test("a used browser that goes to the next session without a reset is found", () => {
  expect(find(...used, next)).toEqual(["pod-b went from s1 to s2 without a reset"]);
});

test("a reset in between is well, and so is a browser that nobody used, or that the same session gets again", () => {
  expect(find(...used, agent(30, "b", "reset"), next)).toEqual([]);
  expect(find(agent(5, "b", "bound", { session: "s1", seq: 1 }), next)).toEqual([]);
  expect(find(...used, agent(40, "b", "bound", { session: "s1", seq: 2 }))).toEqual([]);
  expect(find(...used, agent(40, "other", "bound", { session: "s2", seq: 1 }))).toEqual([]);
});

test("a command that arrives after its lease has not used the browser", () => {
  const late = agent(35, "b", "cdp", { session: "s1", holder: null });
  expect(find(...used, agent(30, "b", "reset"), late, next)).toEqual([]);
});
