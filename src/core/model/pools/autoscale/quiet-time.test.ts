import { expect, test } from "vitest";
import { beginQuietTime, highestOf, type QuietTime, remember, type WantedSize } from "./quiet-time.ts";

const remembered = (wanted: WantedSize[], quietMs: number): QuietTime =>
  wanted.reduce((recent, one) => remember(recent, one, quietMs), beginQuietTime(0));

// POOL-26
test("a fall in a thousand steps is kept as sixty, none of them too low", () => {
  const fall = Array.from({ length: 1000 }, (_, step) => ({ atMs: step * 100, size: 1000 - step }));
  const recent = remembered(fall, 100_000);
  expect(recent.steps.length).toBeLessThanOrEqual(61);
  expect(highestOf(recent)).toBe(1000);
  const later = remember(recent, { atMs: 150_000, size: 0 }, 100_000);
  expect(highestOf(later)).toBeGreaterThanOrEqual(500);
  expect(highestOf(later)).toBeLessThanOrEqual(520);
});

// POOL-26
test("what is not above a later one is dropped at once", () => {
  const wanted = [5, 3, 4, 5].map((size, atMs) => ({ atMs: atMs * 1000, size }));
  expect(remembered(wanted, 60_000)).toEqual({ steps: [{ atMs: 3000, size: 5 }], now: 5 });
});
