import { expect, test } from "vitest";
import { agentLineOf } from "./agent-line.ts";

const line = (more: object): string =>
  JSON.stringify({ level: "info", time: "2026-01-02T03:04:05.006Z", service: "agent", msg: "said", ...more });

// LOG-1
test("a holder sees known facts of the agent's lines, and none that could name a place or a secret", () => {
  const shown = agentLineOf(
    line({ ms: 12, outcome: "changed", err: { stack: "/srv/a.ts" }, address: "10.0.0.1" }),
    "mine",
  );
  expect(shown).toEqual({ message: "info said outcome=changed ms=12", timestamp: "2026-01-02T03:04:05.006Z" });
});

// LOG-3
test("a line of another session, or one that is none, is not shown", () => {
  expect(agentLineOf(line({ session_id: "mine" }), "mine")?.message).toBe("info said");
  expect(agentLineOf(line({ session_id: "other" }), "mine")).toBeUndefined();
  for (const none of ["", "null", "{", "[]", '{"msg":"x"}']) expect(agentLineOf(none, "mine")).toBeUndefined();
});
