import { expect, test } from "vitest";
import { readConfig } from "./config.ts";

// LIMIT-2, LIMIT-3
test("the organization's limits are 50 pooled sessions, a fill rate of 25 and sessions of 72 hours, unless they are set", () => {
  expect(readConfig({}).limits).toEqual({ pooledSessions: 50, fillRatePerMinute: 25, sessionSeconds: 259_200 });
  const raised = readConfig({
    BROWSERPOOL_POOLED_SESSIONS: "7",
    BROWSERPOOL_FILL_RATE_CAP: "100",
    BROWSERPOOL_MAX_SESSION_SECONDS: "60",
  });
  expect(raised.limits).toEqual({ pooledSessions: 7, fillRatePerMinute: 100, sessionSeconds: 60 });
  expect(() => readConfig({ BROWSERPOOL_MAX_SESSION_SECONDS: "259201" })).toThrow("BROWSERPOOL_MAX_SESSION_SECONDS");
});
