import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createHealth } from "./health.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a part that does not answer within a second counts as down, and so does one that can't be asked", async () => {
  const health = createHealth({ redis: () => new Promise(() => undefined), kubernetes: async () => true });
  const parts = health.parts();
  await vi.advanceTimersByTimeAsync(1000);
  const first = await Promise.race([parts, Promise.resolve("still waiting")]);
  expect([first, vi.getTimerCount()]).toEqual([{ redis: false, kubernetes: true }, 0]);
  const broken = createHealth({ redis: async () => true, kubernetes: () => Promise.reject(new Error("no")) });
  expect(await broken.parts()).toEqual({ redis: true, kubernetes: false });
});

// LIMIT-33
test("who asks within a second of a check shares it, and who asks later does not", async () => {
  let checks = 0;
  const isUp = async (): Promise<boolean> => {
    checks += 1;
    return checks === 1;
  };
  const health = createHealth({ redis: isUp, kubernetes: async () => true });
  const seen = await Promise.all(Array.from({ length: 100 }, () => health.parts()));
  expect([checks, new Set(seen).size]).toEqual([1, 1]);
  await vi.advanceTimersByTimeAsync(1000);
  expect([await health.parts(), checks]).toEqual([{ redis: false, kubernetes: true }, 2]);
});

test("a process runs from when it is told so until it is told otherwise", () => {
  const health = createHealth({ redis: async () => true, kubernetes: async () => true });
  const seen = [health.isRunning()];
  for (const isRunning of [true, false]) {
    health.setRunning(isRunning);
    seen.push(health.isRunning());
  }
  expect(seen).toEqual([false, true, false]);
});
