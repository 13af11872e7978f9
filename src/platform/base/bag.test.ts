import { expect, test } from "vitest";
import { createBag } from "./bag.ts";

test("a bag has what was put in and not taken out, in whichever order that happens", () => {
  const bag = createBag<number>();
  const leave = [0, 1, 2, 3, 4].map(bag.add);
  for (const at of [1, 4, 0]) leave[at]?.();
  expect([bag.items().sort(), bag.size()]).toEqual([[2, 3], 2]);
  // What is out stays out, and takes nothing else along.
  leave[1]?.();
  expect(bag.items().sort()).toEqual([2, 3]);
  for (const out of leave) out();
  expect(bag.size()).toBe(0);
});
