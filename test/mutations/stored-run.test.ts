import { expect, test } from "vitest";
import { hasLostFinder, knownOutcomes, stored } from "./stored-run.ts";

const mutation = { name: "one", kind: "bound", file: "a.ts", find: "a < b", replace: "a <= b" };
const here = "test/mutations/stored-run.test.ts";
const found = stored(mutation, { seconds: 1, found: "integration", files: [here], test: "a test", error: "" });

test("a result holds for the same change only", () => {
  const knownOf = knownOutcomes({ mutations: [found] });
  expect(knownOf(mutation)?.outcome?.found).toBe("integration");
  expect(knownOf({ ...mutation, replace: "a > b" })).toBeUndefined();
});

test("a test that noticed a mistake is lost when it has gone or changed", () => {
  expect(hasLostFinder(found)).toBe(false);
  expect(hasLostFinder({ ...found, finders: { [here]: "before" } })).toBe(true);
  expect(hasLostFinder({ ...found, finders: { "test/gone.test.ts": "before" } })).toBe(true);
  expect(hasLostFinder(stored(mutation))).toBe(false);
});
