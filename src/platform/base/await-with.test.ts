import { expect, test } from "vitest";
import { awaitWith } from "./await-with.ts";

const never = new Promise<never>(() => undefined);

test("a wait ends with the signal's reason, also when the signal was aborted before it began", async () => {
  const stop = new AbortController();
  const wait = awaitWith(never, stop.signal);
  stop.abort(new Error("we stop"));
  await expect(wait).rejects.toThrow("we stop");
  const late = awaitWith(never, stop.signal).catch((error: Error) => error.message);
  expect(await Promise.race([late, new Promise((resolve) => setTimeout(resolve, 50, "it waits on"))])).toBe("we stop");
});

test("a wait settles as its promise does, with a signal or without one", async () => {
  const { signal } = new AbortController();
  expect(await awaitWith(Promise.resolve(3), signal)).toBe(3);
  expect(await awaitWith(Promise.resolve(4), undefined)).toBe(4);
  await expect(awaitWith(Promise.reject(new Error("no")), signal)).rejects.toThrow("no");
});

test("what is no longer waited for may fail: nobody has to handle that", async () => {
  const failing = Promise.withResolvers<never>();
  const stop = new AbortController();
  stop.abort(new Error("we stop"));
  await expect(awaitWith(failing.promise, stop.signal)).rejects.toThrow("we stop");
  // An unhandled rejection would fail the run.
  failing.reject(new Error("nobody listens"));
});
