import { expect, test } from "vitest";
import { createSemaphore } from "./semaphore.ts";

const { signal } = new AbortController();

test("so many are inside at once, and the others come in the order in which they asked", async () => {
  const semaphore = createSemaphore(2);
  const entered: (() => void)[] = [];
  const all = Array.from({ length: 5 }, () => semaphore.acquire(signal).then((release) => entered.push(release)));
  await new Promise(setImmediate);
  expect(entered).toHaveLength(2);
  for (const left of [3, 4, 5]) {
    entered[left - 3]?.();
    await new Promise(setImmediate);
    expect(entered).toHaveLength(left);
  }
  expect(await Promise.all(all)).toEqual([1, 2, 3, 4, 5]);
});

test("a place that is given back twice counts once", async () => {
  const semaphore = createSemaphore(1);
  const release = await semaphore.acquire(signal);
  release();
  release();
  await semaphore.acquire(signal);
  const early = new AbortController();
  const second = expect(semaphore.acquire(early.signal)).rejects.toThrow("it waits");
  early.abort(new Error("it waits"));
  await second;
});

test("who gives up takes no place, also in the moment of its turn", async () => {
  const semaphore = createSemaphore(1);
  const release = await semaphore.acquire(signal);
  const before = new AbortController();
  const early = expect(semaphore.acquire(before.signal)).rejects.toThrow("it gives up");
  before.abort(new Error("it gives up"));
  await early;
  const inTheMoment = new AbortController();
  const late = expect(semaphore.acquire(inTheMoment.signal)).rejects.toThrow("it gives up");
  // Nothing runs between the two.
  inTheMoment.abort(new Error("it gives up"));
  release();
  await late;
  await semaphore.acquire(signal);
  const third = new AbortController();
  third.abort(new Error("over"));
  await expect(semaphore.acquire(third.signal)).rejects.toThrow("over");
});
