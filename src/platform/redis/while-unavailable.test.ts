import { expect, test } from "vitest";
import { failing } from "../../../test/support/failing.ts";
import { AppError, unavailable } from "../base/errors.ts";
import { whileUnavailable } from "./while-unavailable.ts";

const away = unavailable("Redis");

test("work is repeated until Redis is back", async () => {
  expect(await whileUnavailable(failing(2, away).work, { tries: 3 })).toBe(3);
});

test("the last error is thrown when the tries are used up", async () => {
  const { work, calls } = failing(9, away);
  await expect(whileUnavailable(work, { tries: 2 })).rejects.toMatchObject({ code: "unavailable" });
  expect(calls()).toBe(2);
});

test("no try begins after the time for it", async () => {
  const { work, calls } = failing(9, away);
  await expect(whileUnavailable(work, { withinMs: 150 })).rejects.toMatchObject({ code: "unavailable" });
  expect(calls()).toBe(2);
});

test("an error that repeating can't cure is thrown at once", async () => {
  const { work, calls } = failing(9, new AppError("conflict", "no"));
  await expect(whileUnavailable(work, { tries: 5 })).rejects.toMatchObject({ code: "conflict" });
  expect(calls()).toBe(1);
});

test("an abort ends the pause with its reason", async () => {
  const gone = new Error("gone");
  const stop = new AbortController();
  const result = whileUnavailable(failing(9, away).work, { tries: 9, signal: stop.signal });
  stop.abort(gone);
  await expect(result).rejects.toBe(gone);
});
