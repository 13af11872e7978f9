import { expect, test } from "vitest";
import { failing } from "../../../test/support/failing.ts";
import { KubeError } from "../../platform/kube/kube-error.ts";
import { retryConflicts } from "./change-object.ts";

const conflict = new KubeError("Conflict", 409, "the object has been modified");

test("a write that met another one is repeated", async () => {
  expect(await retryConflicts("the pool", failing(2, conflict).work)).toBe(3);
});

test("one that meets others every time is given up after eight tries, and the caller is told to come back", async () => {
  const { work, calls } = failing(9, conflict);
  await expect(retryConflicts("the pool", work)).rejects.toMatchObject({
    code: "unavailable",
    message: "the pool is being changed by others; repeat the request",
    retryAfterSeconds: 1,
  });
  expect(calls()).toBe(8);
});

test("any other error is thrown at once", async () => {
  const { work, calls } = failing(1, new KubeError("NotFound", 404, "gone"));
  await expect(retryConflicts("the pool", work)).rejects.toMatchObject({ reason: "NotFound" });
  expect(calls()).toBe(1);
});
