import { expect, test } from "vitest";
import { knownOutcomes, stored } from "./stored-run.ts";

const mutation = { name: "one", kind: "bound", file: "a.ts", find: "a < b", replace: "a <= b" };
const here = "test/mutations/stored-run.test.ts";
const found = stored(mutation, { seconds: 1, found: "integration", files: [here], test: "a test", error: "" });

test("a result holds for the same change only", () => {
  const knownOf = knownOutcomes({ mutations: [found] });
  expect(knownOf(mutation)?.outcome?.found).toBe("integration");
  expect(knownOf({ ...mutation, replace: "a > b" })).toBeUndefined();
});
