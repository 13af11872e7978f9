import { expect, test } from "vitest";
import { assess } from "./assess.ts";
import type { Row } from "./section.ts";
import { formatQuantity, formatTable } from "./table.ts";

const floor = { what: "direct", value: 2 };
const row = (more: Partial<Row>): Row => ({ what: "round trip", unit: "ms", measured: 5, floor, ...more });

test.each([
  [{ of: "measured", atMost: 5 }, true],
  [{ of: "measured", atMost: 4.9 }, false],
  [{ of: "ratio", atMost: 2.5 }, true],
  [{ of: "ratio", atLeast: 2.6 }, false],
  [{ of: "added", atMost: 3 }, true],
  [{ of: "added", atMost: 2.9 }, false],
] as const)("a target of %j is met: %s", (target, met) => {
  expect(assess(row({ target })).met).toBe(met);
});

test("a figure that could not be measured misses its target", () => {
  expect(assess(row({ measured: Number.NaN, target: { of: "measured", atMost: 1 } })).met).toBe(false);
  expect(assess({ what: "x", unit: "ms", measured: 1, target: { of: "ratio", atMost: 1 } }).met).toBe(false);
});

test.each([
  [0.12345, "ms", "0.123 ms"],
  [1234.5, "ms", "1235 ms"],
  [65_536, "bytes", "65.5 kB"],
  [2.5e9, "bytes/s", "2.50 GB/s"],
  [300, "1/s", "300/s"],
  [12, "count", "12"],
  [Number.NaN, "ms", "none"],
] as const)("%s in %s reads %s", (value, unit, text) => {
  expect(formatQuantity(value, unit)).toBe(text);
});

test("a table shows each figure with its floor, and the missed targets", () => {
  const table = formatTable([
    { section: "gateway", row: assess(row({ target: { of: "added", atMost: 0.3 } })) },
    { section: "plan", row: assess({ what: "10,000 pods", unit: "ms", measured: 8 }) },
  ]);
  expect(table.split("\n").slice(2)).toEqual([
    "gateway  round trip   5.00 ms   2.00 ms (direct)  2.50 ×  3.00 ms  added ≤ 0.300 ms  MISSED",
    "plan     10,000 pods  8.00 ms",
  ]);
});
