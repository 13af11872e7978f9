import { expect, test } from "vitest";
import { failing } from "../../../test/support/failing.ts";
import { AppError, unavailable } from "../base/errors.ts";
import { orUnavailable, whileUnavailable } from "./or-unavailable.ts";

const reply = (message: string): Error => Object.assign(new Error(message), { name: "ReplyError" });
const errorOf = (error: unknown): Promise<unknown> => orUnavailable(Promise.reject(error)).catch((caught) => caught);

// HTTP-29
test.each([
  "LOADING Redis is loading the dataset in memory",
  "READONLY You can't write against a read only replica.",
  "MASTERDOWN Link with MASTER is down",
  "CLUSTERDOWN The cluster is down",
  "MOVED 3999 127.0.0.1:6381",
  "TRYAGAIN Multiple keys request during rehashing of slot",
  "MISCONF Redis is configured to save RDB snapshots",
  "BUSY Redis is busy running a script",
])("a Redis that says %s can't serve now: the call may be repeated", async (message) => {
  expect(await errorOf(reply(message))).toMatchObject({ code: "unavailable" });
});

test("a connection that breaks is an outage, and so is a full Redis, which is told by name", async () => {
  expect(await errorOf(new Error("Connection is closed."))).toMatchObject({ code: "unavailable" });
  expect(await errorOf(reply("OOM command not allowed when used memory > 'maxmemory'."))).toMatchObject({
    code: "unavailable",
    details: [{ code: "redis_full" }],
  });
});

test("what Redis refuses for good is passed on, and so is an error that is the service's own", async () => {
  for (const error of [
    reply("WRONGTYPE Operation against a key"),
    reply("ERR unknown command"),
    new AppError("conflict", "no"),
  ])
    expect(await errorOf(error)).toBe(error);
  expect(await orUnavailable(Promise.resolve(3))).toBe(3);
});

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
