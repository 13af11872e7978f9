import { expect, test } from "vitest";
import { awaitWith, doubling, type RetryOptions, retry } from "./retry.ts";

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

const minuteMs = 60_000;

/** Retries work that always fails; what is thrown, and how often the work was tried. */
const fail = async (options: Partial<RetryOptions>) => {
  const error = new Error("busy");
  let tries = 0;
  const work = async (): Promise<never> => {
    tries++;
    throw error;
  };
  const thrown = await retry(work, { isCurable: () => true, pauseMs: () => 1, ...options }).catch((cause) => cause);
  return { thrown: thrown === error ? "last error" : thrown, tries };
};

test("a pause doubles up to the longest one", () => {
  expect([1, 2, 3, 4, 5, 2000].map(doubling(100, 500))).toEqual([100, 200, 400, 500, 500, 500]);
});

test("every pause is reported before it begins, the one after the last try is not taken", async () => {
  const reported: unknown[] = [];
  const onRetry = (error: unknown, pauseMs: number): unknown => reported.push([(error as Error).message, pauseMs]);
  expect(await fail({ tries: 3, pauseMs: doubling(1), onRetry })).toEqual({ thrown: "last error", tries: 3 });
  expect(reported).toEqual([
    ["busy", 1],
    ["busy", 2],
  ]);
});

test("a pause that ends after the time for tries is not taken", async () => {
  const pauseMs = (failures: number): number => (failures === 1 ? 1 : 2 * minuteMs);
  expect(await fail({ withinMs: minuteMs, pauseMs })).toEqual({ thrown: "last error", tries: 2 });
});

test("an error that is not curable is thrown at once", async () => {
  expect(await fail({ isCurable: () => false })).toEqual({ thrown: "last error", tries: 1 });
});

test.each(["reason", "last error"] as const)("an abort ends the pause with the %s", async (abortThrows) => {
  const stop = new AbortController();
  const onRetry = (): unknown => setImmediate(() => stop.abort("reason"));
  const options = { signal: stop.signal, pauseMs: () => minuteMs, abortThrows, onRetry };
  expect(await fail(options)).toEqual({ thrown: abortThrows, tries: 1 });
});
