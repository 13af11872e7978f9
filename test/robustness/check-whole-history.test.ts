import { expect, test } from "vitest";
import { checkBrokenOff } from "./check-whole-history.ts";
import { checkHistory } from "./checks/all-checks.ts";
import { agent, held, inOrder, operation, released } from "./checks/small-history.ts";

test("of a history that broke off, a session without an agent is found up to the last word of an agent, and not later", () => {
  const log = [agent(5, "a", "bound", { session: "s1", seq: 1 }), ...held([0, 10], "s1")];
  const unbound = held([20, 30], "s2");
  expect(checkBrokenOff(inOrder(...log, unbound))).toEqual([]);
  expect(checkBrokenOff(inOrder(...log, unbound, agent(40, "a", "raised")))).toMatchObject([{ kind: "safety" }]);
});

test("of a history that broke off, limits of time say nothing", () => {
  const use = (at: number, seq: number) => [
    ...held([at, at + 10], `s${seq}`),
    agent(at + 5, "a", "bound", { session: `s${seq}`, seq }),
    ...released([at + 20, at + 30], `s${seq}`),
    agent(at + 25, "a", "ended", { session: `s${seq}`, seq }),
  ];
  const passedOver = operation([0, 40_000], { op: "acquire", client: "other" }, { outcome: "timeout" });
  const log = inOrder(passedOver, use(1000, 1), use(10_000, 2), use(30_000, 3), agent(50_000, "a", "raised"));
  expect(checkHistory(log).map(({ kind }) => kind)).toContain("timing");
  expect(checkBrokenOff(log)).toEqual([]);
});
