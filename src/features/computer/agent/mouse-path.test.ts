import { describe, expect, test } from "vitest";
import { smoothPath, smoothPathThrough, straightPath } from "./mouse-path.ts";

/** The same numbers at each run (mulberry32). */
const seeded = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

const [from, to] = [
  { x: 100, y: 100 },
  { x: 900, y: 500 },
];

describe("a smooth way", () => {
  test("ends at its point, in its time, and never goes back in time", () => {
    for (let seed = 0; seed < 50; seed += 1) {
      const way = smoothPath({ from, to, durationMs: 400 }, seeded(seed));
      expect(way.at(-1)).toEqual({ ...to, atMs: 400 });
      expect(way).toHaveLength(40);
      const times = way.map(({ atMs }) => atMs);
      expect(times).toEqual(times.toSorted((one, other) => one - other));
    }
  });

  test("is curved, slow at both ends, and another one each time", () => {
    const ways = Array.from({ length: 20 }, (_, seed) => smoothPath({ from, to, durationMs: 400 }, seeded(seed)));
    expect(new Set(ways.map((way) => JSON.stringify(way))).size).toBe(20);
    for (const way of ways) {
      const aside = way.map(({ x, y }) => Math.abs((x - from.x) * (to.y - from.y) - (y - from.y) * (to.x - from.x)));
      expect(Math.max(...aside) / Math.hypot(to.x - from.x, to.y - from.y)).toBeGreaterThan(10);
      const speeds = way
        .slice(1)
        .map(({ x, y }, index) => Math.hypot(x - (way[index]?.x ?? 0), y - (way[index]?.y ?? 0)));
      const middle = speeds[Math.floor(speeds.length / 2)] ?? 0;
      expect(speeds[0]).toBeLessThan(middle / 3);
      expect(speeds.at(-1)).toBeLessThan(middle / 3);
    }
  });

  test("takes longer for a longer way, and one step for none", () => {
    const msOf = (distance: number): number =>
      smoothPath({ from, to: { x: from.x + distance, y: from.y } }, seeded(1)).at(-1)?.atMs ?? 0;
    expect(msOf(10)).toBeLessThan(msOf(200));
    expect(msOf(200)).toBeLessThan(msOf(2000));
    expect(msOf(2000)).toBeLessThan(1000);
    expect(smoothPath({ from, to: from, durationMs: 0 }, seeded(1))).toEqual([{ ...from, atMs: 0 }]);
  });
});

test("a way through points comes through each of them, in the time of all", () => {
  const corner = { x: 900, y: 100 };
  const way = smoothPathThrough([from, corner, to], 600, seeded(3));
  expect(way).toContainEqual(expect.objectContaining(corner));
  expect(way.at(-1)).toEqual({ ...to, atMs: 600 });
});

test("a straight way has so many steps between two points, and pauses between them", () => {
  expect(
    straightPath(
      [
        { x: 0, y: 0 },
        { x: 10, y: 20 },
        { x: 10, y: 0 },
      ],
      { steps: 2, pauseMs: 5 },
    ),
  ).toEqual([
    { x: 5, y: 10, atMs: 5 },
    { x: 10, y: 20, atMs: 10 },
    { x: 10, y: 10, atMs: 15 },
    { x: 10, y: 0, atMs: 20 },
  ]);
});
