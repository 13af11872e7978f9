import { expect, test } from "vitest";
import { quantityOf } from "./quantity.ts";

test.each([
  ["0", 0],
  ["250m", 0.25],
  ["0.5", 0.5],
  [".5", 0.5],
  ["2", 2],
  ["2Gi", 2 * 2 ** 30],
  ["1.5Ki", 1536],
  ["3k", 3000],
  ["3M", 3e6],
  ["1E", 1e18],
  ["1e3", 1000],
  ["-1", -1],
])("the quantity %s is %d", (text, number) => {
  expect(quantityOf(text)).toBeCloseTo(number);
});

test.each(["", "Gi", "2 Gi", "2GiB", "2gi", "2mi", "2K", "one", "1.2.3"])("%o is no quantity", (text) => {
  expect(quantityOf(text)).toBeUndefined();
});
