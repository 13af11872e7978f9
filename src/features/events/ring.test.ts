import { expect, test } from "vitest";
import { createRings } from "./ring.ts";

const event = (bytes = 10) => ({ json: "x".repeat(bytes), permission: "pools:read" as const });
const never = new AbortController().signal;

// EVENT-3
test("an id is known while all events after it are there, and only to its own ring", () => {
  const rings = createRings({ count: 3, bytes: 1000, allBytes: 1000 });
  const [ring, other] = [rings.open("one"), rings.open("two")];
  const start = ring.idOf(ring.last());
  expect(ring.find(start)).toBe(0);
  for (let n = 0; n < 3; n++) ring.push(event());
  expect([start, ring.idOf(3)].map(ring.find)).toEqual([0, 3]);
  ring.push(event());
  expect([start, ring.idOf(1), ring.idOf(4), ring.idOf(5)].map(ring.find)).toEqual([undefined, 1, 4, undefined]);
  expect(other.find(ring.idOf(0))).toBeUndefined();
  for (const id of ["", "one", "one-", "one--1", "one-1.5", "one-1e0", "one- 1", "one-0x1", `one-${"9".repeat(400)}`])
    expect(ring.find(id)).toBeUndefined();
});

// EVENT-8
test("a ring keeps the latest events, by their number and by their bytes, and at least one", () => {
  const ring = createRings({ count: 3, bytes: 100, allBytes: 10_000 }).open("a");
  const here = () => Array.from({ length: ring.last() }, (_, index) => ring.at(index + 1) !== "gone");
  for (let n = 0; n < 4; n++) ring.push(event());
  expect(here()).toEqual([false, true, true, true]);
  ring.push(event(95));
  expect(here()).toEqual([false, false, false, false, true]);
  ring.push(event(500));
  expect(here()).toEqual([false, false, false, false, false, true]);
  expect(ring.at(7)).toBeUndefined();
});

// EVENT-8
test("of all rings together the largest gives way, and what a closed one had is free", () => {
  const rings = createRings({ count: 100, bytes: 1000, allBytes: 1000 });
  const [small, large] = [rings.open("a"), rings.open("b")];
  small.push(event(250));
  for (let n = 0; n < 6; n++) large.push(event(100));
  small.push(event(250));
  expect(small.at(1)).not.toBe("gone");
  expect([1, 2].map((number) => large.at(number) === "gone")).toEqual([true, false]);
  small.close();
  for (let n = 0; n < 5; n++) large.push(event(100));
  expect(large.at(2)).not.toBe("gone");
});

test("who waits is told of the next event, and is not waited for any more once it has left", async () => {
  const ring = createRings().open("a");
  const leaving = new AbortController();
  const [waits, leaves] = [ring.after(0, never), ring.after(0, leaving.signal)];
  leaving.abort(new Error("left"));
  await expect(leaves).rejects.toThrow("left");
  ring.push(event());
  await waits;
  await ring.after(0, never);
});
