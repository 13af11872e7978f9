import { expect, test } from "vitest";
import { createStartSlots } from "./start-slots.ts";

const never = new AbortController().signal;
const settled = async (promise: Promise<unknown>): Promise<boolean> =>
  Promise.race([promise.then(() => true), new Promise<false>((resolve) => setImmediate(() => resolve(false)))]);

test("no more are out than there are, and whoever waits gets its turn in order", async () => {
  const slots = createStartSlots(2);
  const first = await slots.take(never);
  await slots.take(never);
  const third = slots.take(never);
  const fourth = slots.take(never);
  expect(await settled(third)).toBe(false);
  first?.();
  expect(await settled(third)).toBe(true);
  expect(await settled(fourth)).toBe(false);
});

test("a slot given back twice counts once", async () => {
  const slots = createStartSlots(1);
  const first = await slots.take(never);
  first?.();
  first?.();
  await slots.take(never);
  expect(await settled(slots.take(never))).toBe(false);
});

test("whoever gives up waiting gets none and takes none from the others", async () => {
  const slots = createStartSlots(1);
  const first = await slots.take(never);
  const impatient = new AbortController();
  const second = slots.take(impatient.signal);
  const third = slots.take(never);
  impatient.abort();
  expect(await second).toBeUndefined();
  first?.();
  expect(await third).toBeDefined();
  expect(await slots.take(AbortSignal.abort())).toBeUndefined();
});
