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
