import { expect, test } from "vitest";
import { readConfig } from "./config.ts";

// LIMIT-2, LIMIT-3
test("the organization's limits are 50 pooled sessions and a fill rate of 25, unless they are set", () => {
  expect(readConfig({}).limits).toEqual({ pooledSessions: 50, fillRatePerMinute: 25 });
  const raised = readConfig({ BROWSERPOOL_POOLED_SESSIONS: "7", BROWSERPOOL_FILL_RATE_CAP: "100" });
  expect(raised.limits).toEqual({ pooledSessions: 7, fillRatePerMinute: 100 });
});
