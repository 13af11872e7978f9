import { expect, test } from "vitest";
import { isAnswer, isUnnoticed, type Outcome } from "./outcome.ts";

const seconds = 1;

test.each<[Outcome, isUnnoticed: boolean, isAnswer: boolean]>([
  [{ seconds, found: "no", why: "tests pass" }, true, true],
  [{ seconds, found: "no", why: "no test fits" }, true, true],
  [{ seconds, found: "no", why: "time is over" }, false, false],
  [{ seconds, found: "no", why: "unsteady" }, false, false],
  [{ seconds, found: "unit", files: ["a.test.ts"], test: "a test", error: "" }, false, true],
])("%j is unnoticed: %s, and an answer: %s", (outcome, ...expected) => {
  expect([isUnnoticed(outcome), isAnswer(outcome)]).toEqual(expected);
});
