import { expect, test } from "vitest";
import { type Bucket, takeToken } from "./token-bucket.ts";

const rate = { perSecond: 10, burst: 3 };

/** Takes tokens at these times, ms; returns the waits. */
const takeAt = (...timesMs: number[]): number[] => {
  let bucket: Bucket | undefined;
  return timesMs.map((nowMs) => {
    const taken = takeToken(bucket, rate, nowMs);
    bucket = taken.bucket;
    return taken.waitMs;
  });
};

test("a burst passes, and the next request waits for its token", () => {
  expect(takeAt(0, 0, 0, 0)).toEqual([0, 0, 0, 100]);
});

test("tokens come back at the rate, and never more than the burst", () => {
  expect(takeAt(0, 0, 0, 100, 150)).toEqual([0, 0, 0, 0, 50]);
  expect(takeAt(0, 0, 0, 60_000, 60_000, 60_000, 60_000)).toEqual([0, 0, 0, 0, 0, 0, 100]);
});

test("refused requests take nothing: who keeps asking still gets the rate", () => {
  const waits = takeAt(...Array.from({ length: 1000 }, (_, tenth) => tenth * 10));
  expect(waits.filter((waitMs) => waitMs === 0)).toHaveLength(102);
});
