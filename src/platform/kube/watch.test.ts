import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { secrets } from "./resource-type.ts";
import type { KubeResponse } from "./transport.ts";
import { readWatch } from "./watch.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A watch whose stream this test writes; it breaks off when it is aborted, as a connection does. */
const watching = () => {
  const body = new PassThrough();
  let asked: AbortSignal | undefined;
  const stop = new AbortController();
  const open = async (_query: object, signal: AbortSignal): Promise<KubeResponse> => {
    asked = signal;
    signal.addEventListener("abort", () => body.destroy(new Error("aborted")));
    return { body } as unknown as KubeResponse;
  };
  return { body, stop, events: readWatch(secrets, open, stop.signal), isAborted: () => asked?.aborted };
};
const bookmark = (version: string): string =>
  `${JSON.stringify({ type: "BOOKMARK", object: { metadata: { resourceVersion: version } } })}\n`;

test("a stream without a line for 100 s counts as dead, and one with lines does not", async () => {
  const { body, events, isAborted } = watching();
  const first = events.next();
  body.write(bookmark("1"));
  expect(await first).toMatchObject({ value: { type: "BOOKMARK" } });
  const second = events.next();
  await vi.advanceTimersByTimeAsync(99_000);
  body.write(bookmark("2"));
  await second;
  const third = expect(events.next()).rejects.toMatchObject({ reason: "Unreachable", message: "the watch broke off" });
  await vi.advanceTimersByTimeAsync(99_000);
  expect(isAborted()).toBe(false);
  await vi.advanceTimersByTimeAsync(1000);
  expect(isAborted()).toBe(true);
  await third;
  expect(vi.getTimerCount()).toBe(0);
});

test("whoever stops reading ends the stream, and whoever stops the watch gets their own reason", async () => {
  const one = watching();
  one.body.write(bookmark("1"));
  await one.events.next();
  await one.events.return();
  expect([one.isAborted(), vi.getTimerCount()]).toEqual([true, 0]);

  const other = watching();
  const end = expect(other.events.next()).rejects.toThrow("aborted");
  await vi.advanceTimersByTimeAsync(0);
  other.stop.abort();
  await end;
});
