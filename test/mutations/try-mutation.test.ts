import { expect, test } from "vitest";
import { isUnnoticed, type Outcome } from "./try-mutation.ts";

const one = { name: "one", seconds: 1 };

test.each<[Outcome, boolean]>([
  [{ ...one, found: "no", why: "tests pass" }, true],
  [{ ...one, found: "no", why: "no test fits" }, true],
  [{ ...one, found: "no", why: "time is over" }, false],
  [{ ...one, found: "no", why: "unsteady" }, false],
  [{ ...one, found: "unit", by: "a test", error: "" }, false],
])("%j is unnoticed: %s", (outcome, expected) => {
  expect(isUnnoticed(outcome)).toBe(expected);
});
