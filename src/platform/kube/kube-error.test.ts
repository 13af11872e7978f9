import { expect, test } from "vitest";
import { isTransient, KubeError } from "./kube-error.ts";

test.each([
  [0, true],
  [429, true],
  [500, true],
  [503, true],
  [404, false],
  [409, false],
  [422, false],
])("after an answer with status %s the same call can succeed: %s", (status, expected) => {
  expect(isTransient(new KubeError("Some", status, "said so"))).toBe(expected);
});

test("an error of something else is not the API server's", () => {
  expect(isTransient(Object.assign(new Error("broken"), { status: 503 }))).toBe(false);
});
