import { expect, test } from "vitest";
import { createExpectations } from "./expectations.ts";

test("a creation counts from before the call until the watch shows it or the call fails", () => {
  const expectations = createExpectations();
  expectations.expect("pool", "a");
  expectations.expect("pool", "b");
  expectations.expect("other", "c");
  expect(expectations.pending("pool")).toBe(2);
  expectations.creationObserved("pool", "a");
  expectations.creationObserved("pool", "a");
  expectations.creationObserved("pool", "never expected");
  expect(expectations.pending("pool")).toBe(1);
});

test("one that the watch never shows stops counting after a minute", () => {
  let now = 0;
  const expectations = createExpectations(() => now);
  expectations.expect("pool", "a");
  now = 60_000;
  expectations.expect("pool", "b");
  expect(expectations.pending("pool")).toBe(2);
  now = 60_001;
  expect(expectations.pending("pool")).toBe(1);
});

test("an owner that is gone is forgotten", () => {
  const expectations = createExpectations();
  expectations.expect("pool", "a");
  expectations.forget("pool");
  expect(expectations.pending("pool")).toBe(0);
});

test("one whose call was not answered counts on, in doubt, until it is observed", () => {
  let now = 0;
  const expectations = createExpectations(() => now);
  for (const name of ["a", "b"]) expectations.expect("pool", name);
  expectations.markUnanswered("pool", "a");
  expectations.markUnanswered("pool", "never expected");
  now = 700;
  expect(expectations.unanswered("pool")).toEqual([{ name: "a", forMs: 700 }]);
  expect(expectations.pending("pool")).toBe(2);
  expectations.creationObserved("pool", "a");
  expect(expectations.unanswered("pool")).toEqual([]);
  expect(expectations.pending("pool")).toBe(1);
});
