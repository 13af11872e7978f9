import { expect, test } from "vitest";
import { aPool } from "../../../../test/support/observed-pool.ts";
import { Autoscale } from "./autoscale.ts";
import { growthOf, largestSize, presentSize } from "./pool-size.ts";

const scaled = (min: number, acceptedSize?: number) =>
  aPool({ autoscale: Autoscale.parse({ min, max: 9 }) }, acceptedSize === undefined ? {} : { acceptedSize });
const fixed = aPool({ size: 4 });

// POOL-23
test("a pool has the size of its spec, or the one that the operator chose; before that, its min", () => {
  expect([fixed, scaled(2), scaled(2, 5), scaled(0, 0)].map(presentSize)).toEqual([4, 2, 5, 0]);
  expect([fixed, scaled(2)].map(({ spec }) => largestSize(spec))).toEqual([4, 9]);
});

// POOL-28, POOL-PATCH-18
test("a change makes a pool grow by what it promises more, and not while a limit keeps it below its promise", () => {
  expect(growthOf(scaled(3).spec, undefined)).toBe(3);
  expect(growthOf(scaled(6).spec, fixed)).toBe(2);
  expect(growthOf(scaled(7).spec, scaled(2, 5))).toBe(2);
  expect(growthOf(fixed.spec, scaled(2, 5))).toBe(-1);
  expect(growthOf(scaled(5).spec, scaled(5, 1))).toBe(0);
});
