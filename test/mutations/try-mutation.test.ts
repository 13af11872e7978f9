import { expect, test } from "vitest";
import { isAnswer, isUnnoticed, type Outcome } from "./try-mutation.ts";

const one = { name: "one", seconds: 1 };

test.each<[Outcome, isUnnoticed: boolean, isAnswer: boolean]>([
  [{ ...one, found: "no", why: "tests pass" }, true, true],
  [{ ...one, found: "no", why: "no test fits" }, true, true],
  [{ ...one, found: "no", why: "time is over" }, false, false],
  [{ ...one, found: "no", why: "unsteady" }, false, false],
  [{ ...one, found: "unit", by: "a test", error: "" }, false, true],
])("%j is unnoticed: %s, and an answer: %s", (outcome, ...expected) => {
  expect([isUnnoticed(outcome), isAnswer(outcome)]).toEqual(expected);
});
