import { expect, test } from "vitest";
import { createSlots } from "./slots.ts";

const { signal } = new AbortController();

test("so many are inside at once, and the others come in the order in which they asked", async () => {
  const slots = createSlots(2);
  const entered: number[] = [];
  const all = Array.from({ length: 5 }, (_, n) => slots.enter(signal).then(() => entered.push(n)));
  await new Promise(setImmediate);
  expect(entered).toEqual([0, 1]);
  for (const left of [3, 4, 5]) {
    slots.leave();
    await new Promise(setImmediate);
    expect(entered.length).toBe(left);
  }
  await Promise.all(all);
  expect(entered).toEqual([0, 1, 2, 3, 4]);
});

test("who gives up takes no place, also in the moment of its turn", async () => {
  const slots = createSlots(1);
  await slots.enter(signal);
  const before = new AbortController();
  const early = expect(slots.enter(before.signal)).rejects.toThrow("it gives up");
  before.abort(new Error("it gives up"));
  await early;
  const inTheMoment = new AbortController();
  const late = expect(slots.enter(inTheMoment.signal)).rejects.toThrow("it gives up");
  // Nothing runs between the two.
  inTheMoment.abort(new Error("it gives up"));
  slots.leave();
  await late;
  await slots.enter(signal);
  const third = new AbortController();
  third.abort(new Error("over"));
  await expect(slots.enter(third.signal)).rejects.toThrow("over");
});
