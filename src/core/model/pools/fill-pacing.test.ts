import { expect, test } from "vitest";
import { defaultAcquireTimeoutSeconds, failedStartBackOffMs, startIntervalMs } from "./fill-pacing.ts";

// FILL-RATE-1
test.each([
  [10, 25, 24_000],
  [1, 25, 240_000],
  [50, 6000, 20],
  [3, 0.5, 4_000_000],
  [1, 0, Number.POSITIVE_INFINITY],
])("a pool of %i at %d percent a minute starts one every so many ms: %d", (size, fillRatePerMinute, intervalMs) => {
  expect(startIntervalMs({ size, fillRatePerMinute })).toBeCloseTo(intervalMs, 6);
});

test("a rate that is all but 0 gives a date that can be written", () => {
  const intervalMs = startIntervalMs({ size: 1, fillRatePerMinute: Number.MIN_VALUE });
  expect(new Date(Date.now() + intervalMs).toISOString()).toMatch(/^\d{4}-/);
});

// FILL-RATE-8
test("a failed start is tried again after 1 s, doubled each time, at most 5 minutes later", () => {
  expect([0, 1, 2, 3, 9, 10, 5000].map(failedStartBackOffMs)).toEqual([0, 1000, 2000, 4000, 256_000, 300_000, 300_000]);
});

// LEASE-4
test.each([
  [10, 25, 240],
  [1, 25, 240],
  [7, 30, 200],
  [4, 0, 600],
])("a caller of a pool of %i at %d percent waits as long as the pool needs to fill: %i s", (size, rate, seconds) => {
  expect(defaultAcquireTimeoutSeconds({ size, fillRatePerMinute: rate })).toBe(seconds);
});

// LEASE-4
test.each([
  [50, 6000, 30],
  [1, 0.1, 3600],
])("a caller of a pool of %i at %d percent waits 30 s to an hour: %i s", (size, rate, seconds) => {
  expect(defaultAcquireTimeoutSeconds({ size, fillRatePerMinute: rate })).toBe(seconds);
});
