import { expect, test } from "vitest";
import { isStale } from "./measured-coverage.ts";

const hits = ["a.ts#1", "a.ts#2", "a.ts#3", "a.ts#4", "a.ts#5"];
const measured = { digest: "d", seconds: 1, hits };

test.each([
  ["that was never measured", undefined, hits, true],
  ["that has changed", { ...measured, digest: "before" }, hits, true],
  ["of whose functions most are as they were", measured, hits.slice(1), false],
  ["of whose functions many have changed", measured, hits.slice(2), true],
])("a test %s: is measured again", (_, coverage, present, expected) => {
  expect(isStale(coverage, { digest: "d", present: new Set(present) })).toBe(expected);
});
