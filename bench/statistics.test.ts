import { expect, test } from "vitest";
import { histogram, summarize } from "./statistics.ts";

test("percentiles are measured figures that the given share does not exceed", () => {
  const figures = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect(summarize(figures)).toEqual({ count: 100, mean: 50.5, min: 1, p50: 50, p90: 90, p99: 99, max: 100 });
  expect(figures[0]).toBe(100);
  expect(summarize([7])).toMatchObject({ min: 7, p50: 7, p99: 7, max: 7 });
  expect(summarize([])).toMatchObject({ count: 0, p50: Number.NaN });
});

test("a histogram counts every figure once, in ascending ranges", () => {
  expect(histogram([3, 1, 2, 4, 3.9, 0])).toEqual([
    { upTo: 0, count: 1 },
    { upTo: 1, count: 1 },
    { upTo: 2, count: 1 },
    { upTo: expect.closeTo(4), count: 3 },
  ]);
});
