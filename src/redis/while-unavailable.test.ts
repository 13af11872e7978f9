import { expect, test } from "vitest";
import { AppError, unavailable } from "../errors.ts";
import { whileUnavailable } from "./while-unavailable.ts";

const failing = (failures: number, error: Error = unavailable("Redis")) => {
  let calls = 0;
  const work = async (): Promise<number> => {
    calls += 1;
    if (calls <= failures) throw error;
    return calls;
  };
  return { work, calls: () => calls };
};

test("work is repeated until Redis is back", async () => {
  expect(await whileUnavailable(failing(2).work, { tries: 3 })).toBe(3);
});

test("the last error is thrown when the tries are used up", async () => {
  const { work, calls } = failing(9);
  await expect(whileUnavailable(work, { tries: 2 })).rejects.toMatchObject({ code: "unavailable" });
  expect(calls()).toBe(2);
});

test("no try begins after the time for it", async () => {
  const { work, calls } = failing(9);
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
  const result = whileUnavailable(failing(9).work, { tries: 9, signal: stop.signal });
  stop.abort(gone);
  await expect(result).rejects.toBe(gone);
});
