import { expect, test } from "vitest";
import { type AgentErrorCode, refusal, unauthorized } from "./agent-reply.ts";

test.each<[AgentErrorCode, number]>([
  ["unauthorized", 401],
  ["fill_in_progress", 409],
  ["not_holder", 409],
  ["stale_fence", 409],
  ["payload_too_large", 413],
  ["too_many_requests", 429],
  ["browser_unhealthy", 503],
  ["stopping", 503],
])("%s is %s", (code, status) => {
  expect(refusal(code, "why")).toEqual({ status, body: { code, message: "why" } });
});

test("a caller whose token is refused learns the agent's time", () => {
  const { body } = unauthorized();
  expect(Math.abs((body as { now: number }).now - Date.now())).toBeLessThan(10_000);
});
