import { expect, test } from "vitest";
import type { AgentEvent } from "../../test/support/simulated-node/agent-event.ts";
import { countDoubles, countUnbound } from "./agent-events.ts";

const bound = (session: string, at: number, browser = "b"): AgentEvent => ({
  kind: "agent",
  what: "bound",
  pod: browser,
  browser,
  session,
  at,
});

test("a browser that is bound for another session before its holder released it counts as a double, whatever other browsers do", () => {
  const holds = [
    { session: "one", fromMs: 10, untilMs: 30 },
    { session: "two", fromMs: 40, untilMs: 50 },
    { session: "elsewhere", fromMs: 0, untilMs: 90 },
  ];
  const others = [bound("elsewhere", 0, "c")];
  expect(countDoubles(holds, [...others, bound("one", 5), bound("two", 31)])).toBe(0);
  expect(countDoubles(holds, [...others, bound("one", 5), bound("two", 29)])).toBe(1);
});

test("a hold that no agent has bound is counted", () => {
  const hold = { session: "one", fromMs: 10, untilMs: 30 };
  expect(countUnbound([hold], [bound("one", 5)])).toBe(0);
  expect(countUnbound([hold], [bound("two", 5)])).toBe(1);
});
