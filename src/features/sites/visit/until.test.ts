import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createWaits, TooLate } from "./until.ts";
import type { PageWatch } from "./watch-page.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Waits of a visit whose page this test plays. */
const visit = () => {
  let changed = (): void => undefined;
  const page = { isCalm: true };
  const watch = {
    onChange: (listener: () => void) => {
      changed = listener;
    },
    isCalm: () => page.isCalm,
  } as unknown as PageWatch;
  const over = new AbortController();
  return { page, over, waits: createWaits(watch, over.signal), tell: () => changed() };
};
const never = new Promise<never>(() => undefined);

// LOOKUP-61
test("the end of the visit ends every wait with its reason, and none begins after it", async () => {
  const { page, over, waits } = visit();
  page.isCalm = false;
  const all = [
    waits.until(() => false),
    waits.until(() => false, 60_000),
    waits.quiet(60_000),
    waits.within(never, 60_000),
  ];
  const ended = Promise.all(all.map((wait) => expect(wait).rejects.toThrow("the time is over")));
  await vi.advanceTimersByTimeAsync(100);
  over.abort(new Error("the time is over"));
  await vi.advanceTimersByTimeAsync(0);
  await ended;
  await expect(waits.until(() => true)).rejects.toThrow("the time is over");
  expect(vi.getTimerCount()).toBe(0);
});

test("a wait ends with the event after which it holds, or when its own time is over", async () => {
  const { waits, tell } = visit();
  let holds = false;
  const met = waits.until(() => holds);
  holds = true;
  tell();
  expect(await met).toBe(true);
  const missed = waits.until(() => false, 1000);
  const late = expect(waits.within(never, 1000)).rejects.toThrow(TooLate);
  await vi.advanceTimersByTimeAsync(1000);
  expect(await missed).toBe(false);
  await late;
  expect(vi.getTimerCount()).toBe(0);
});

test("a page is quiet when it has told nothing for half a second and is calm, or after the wait's time", async () => {
  vi.useRealTimers();
  const { page, waits, tell } = visit();
  let isQuiet = false;
  const quiet = waits.quiet(10_000).then(() => {
    isQuiet = true;
  });
  for (let round = 0; round < 3; round++) {
    await sleep(400);
    tell();
  }
  expect(isQuiet).toBe(false);
  await quiet;
  page.isCalm = false;
  await waits.quiet(600);
});
