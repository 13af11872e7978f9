import { expect, test } from "vitest";
import { placeParts } from "./told-parts.ts";

const span = { startMs: 1000, endMs: 1100 };

test("parts lie one after another in the middle of their span", () => {
  expect(
    placeParts(
      [
        { name: "first", ms: 20 },
        { name: "second", ms: 60 },
      ],
      span,
    ),
  ).toEqual([
    { name: "first", startMs: 1010, endMs: 1030 },
    { name: "second", startMs: 1030, endMs: 1090 },
  ]);
  expect(placeParts([], span)).toEqual([]);
});

test.each([
  [[500]],
  [[60_000, 60_000, 60_000]],
  [[99, 2]],
  [[-500, 50]],
  [[Number.POSITIVE_INFINITY, 5]],
  [[Number.MAX_VALUE, Number.MAX_VALUE]],
])("no part is longer than its span, or outside of it, whatever was told: %j", (told) => {
  const parts = placeParts(
    told.map((ms, index) => ({ name: String(index), ms })),
    span,
  );
  expect(parts).toHaveLength(told.length);
  for (const { startMs, endMs } of parts) {
    expect(startMs).toBeGreaterThanOrEqual(span.startMs);
    expect(endMs).toBeGreaterThanOrEqual(startMs);
    expect(endMs).toBeLessThanOrEqual(span.endMs);
  }
});
