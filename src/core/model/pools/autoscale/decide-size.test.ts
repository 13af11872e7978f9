/** Traces of demand → traces of sizes. A second of a trace is one decision. */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Autoscale } from "../autoscale.ts";
import {
  beginQuietTime,
  bufferOf,
  decideSize,
  highestOf,
  type QuietTime,
  type Room,
  remember,
  type Scaling,
  type ScalingInput,
  type WantedSize,
} from "./decide-size.ts";

const remembered = (wanted: WantedSize[], quietMs: number): QuietTime =>
  wanted.reduce((recent, one) => remember(recent, one, quietMs), beginQuietTime(0));

// POOL-26
test("a fall in a thousand steps is kept as sixty, none of them too low", () => {
  const fall = Array.from({ length: 1000 }, (_, step) => ({ atMs: step * 100, size: 1000 - step }));
  const recent = remembered(fall, 100_000);
  expect(recent.steps.length).toBeLessThanOrEqual(61);
  expect(highestOf(recent)).toBe(1000);
  const later = remember(recent, { atMs: 150_000, size: 0 }, 100_000);
  expect(highestOf(later)).toBeGreaterThanOrEqual(500);
  expect(highestOf(later)).toBeLessThanOrEqual(520);
});

// POOL-26
test("what is not above a later one is dropped at once", () => {
  const wanted = [5, 3, 4, 5].map((size, atMs) => ({ atMs: atMs * 1000, size }));
  expect(remembered(wanted, 60_000)).toEqual({ steps: [{ atMs: 3000, size: 5 }], now: 5 });
});

type Second = Partial<Omit<ScalingInput, "demand" | "autoscale">> & {
  held?: number;
  waiting?: number;
  /** Time since the decision before, s: 1 if it is not said. */
  after?: number;
  /** The replica that decides has begun in this second. */
  restarted?: boolean;
  autoscale?: Autoscale;
};

const anyRoom: Room = { size: 1_000_000, limit: "PooledSessionsLimit" };
const midnight = Date.parse("2026-01-05T00:00:00Z");

/** What is decided in each second, each from the decision before. */
const trace = (autoscale: Autoscale, seconds: Second[], startMs = midnight): Scaling[] => {
  let size = 0;
  let recent: QuietTime | undefined;
  let second = -1;
  return seconds.map(({ held = 0, waiting = 0, restarted, after = 1, ...given }) => {
    second += after;
    const scaling = decideSize({
      autoscale,
      demand: { held, waiting },
      size,
      room: anyRoom,
      isRecovering: false,
      recent: restarted ? undefined : recent,
      nowMs: startMs + second * 1000,
      monotonicMs: second * 1000,
      ...given,
    });
    ({ size, recent } = scaling);
    return scaling;
  });
};

const sizes = (autoscale: object, seconds: Second[], startMs?: number): number[] =>
  trace(Autoscale.parse(autoscale), seconds, startMs).map(({ size }) => size);

const seconds = (count: number, second: Second = {}): Second[] => Array.from({ length: count }, () => second);

const quick = { min: 0, max: 10, buffer: 0, scaleDownAfterSeconds: 5 };

// POOL-23, POOL-26, POOL-27
describe("the size of an autoscaled pool", () => {
  test("is what is in use, who waits, and the buffer, within min and max", () => {
    expect(sizes({ ...quick, min: 2, buffer: 3 }, [{}, { held: 1, waiting: 1 }, { held: 3 }, { held: 30 }])).toEqual([
      3, 5, 6, 10,
    ]);
    expect(sizes({ ...quick, min: 4, buffer: 3 }, [{}])).toEqual([4]);
  });

  test("has a buffer of a number, or of a percentage of what is in use, rounded up", () => {
    expect([0, 1, 4, 5, 6].map((held) => bufferOf("20%", held))).toEqual([0, 1, 1, 1, 2]);
    expect([0, 9].map((held) => bufferOf(5, held))).toEqual([5, 5]);
  });

  test("falls to the highest of the quiet time, step by step, when the load is gone", () => {
    const load = [{ held: 6 }, { held: 6 }, { held: 3 }, { held: 3 }, ...seconds(8)];
    expect(sizes(quick, load)).toEqual([6, 6, 6, 6, 6, 6, 6, 6, 3, 3, 0, 0]);
  });

  test("does not move under a square wave whose gaps are shorter than the quiet time", () => {
    const wave = Array.from({ length: 10 }, () => [...seconds(4, { held: 6 }), ...seconds(4)]).flat();
    expect(new Set(sizes(quick, wave))).toEqual(new Set([6]));
  });

  test("is kept for a whole quiet time after a demand that has lasted without another decision", () => {
    const autoscale = Autoscale.parse(quick);
    const decide = (second: number, held: number, recent?: QuietTime) =>
      decideSize({
        ...{ autoscale, room: anyRoom, isRecovering: false, size: 6, recent },
        ...{ demand: { held, waiting: 0 }, nowMs: midnight + second * 1000, monotonicMs: second * 1000 },
      });
    const after = decide(100, 0, decide(0, 6).recent);
    expect([after.size, decide(104, 0, after.recent).size, decide(106, 0, after.recent).size]).toEqual([6, 6, 0]);
  });

  test("goes up with a ramp, and down after it", () => {
    const ramp = [1, 2, 3, 4, 3, 2, 1, 0].map((held) => ({ held }));
    expect(sizes(quick, [...ramp, ...seconds(6)])).toEqual([1, 2, 3, 4, 4, 4, 4, 4, 4, 4, 3, 2, 1, 0]);
  });

  test("goes to zero after the quiet time, and is back with the first caller who waits", () => {
    expect(sizes({ ...quick, buffer: "50%" }, [{ held: 1 }, ...seconds(7), { waiting: 1 }, { held: 1 }])).toEqual([
      2, 2, 2, 2, 2, 2, 2, 0, 1, 2,
    ]);
  });

  test("follows the bounds of a window: up when it begins, down a quiet time after its end", () => {
    const scheduled = { ...quick, schedule: [{ start: "00:00", end: "00:01", min: 4 }] };
    const before = Date.parse("2026-01-04T23:59:58Z");
    const size = sizes(scheduled, seconds(75), before);
    expect(size.slice(0, 3)).toEqual([0, 0, 4]);
    expect(size.slice(60, 70)).toEqual([4, 4, 4, 4, 4, 4, 4, 4, 0, 0]);
  });

  test("obeys a smaller max at once: only what is above the demand waits for the quiet time", () => {
    const smaller = Autoscale.parse({ ...quick, max: 3 });
    expect(sizes(quick, [{ held: 8 }, { held: 8, autoscale: smaller }])).toEqual([8, 3]);
  });

  test("does not fall in the first quiet time of another replica", () => {
    const load = [{ held: 6 }, { held: 0, restarted: true }, ...seconds(6)];
    expect(sizes(quick, load)).toEqual([6, 6, 6, 6, 6, 6, 6, 0]);
  });

  test("does not fall while Redis has forgotten who holds a browser, nor a quiet time after it", () => {
    const load = [{ held: 6 }, ...seconds(20, { isRecovering: true }), ...seconds(7)];
    expect(sizes(quick, load)).toEqual([...seconds(27).map(() => 6), 0]);
  });

  test("is not moved down by a clock that is set", () => {
    const load = [{ held: 6 }, { nowMs: midnight + 86_400_000 }, { nowMs: midnight - 86_400_000 }];
    expect(sizes(quick, load)).toEqual([6, 6, 6]);
  });
});

// POOL-28
describe("a limit", () => {
  const three: Room = { size: 3, limit: "SessionsLimit" };

  test("keeps the pool from growing, says so, and takes nothing away", () => {
    const held = trace(Autoscale.parse(quick), [{ held: 6, room: three }, { held: 6 }, { held: 7, room: three }]);
    expect(held.map(({ size }) => size)).toEqual([3, 6, 6]);
    expect(held.map(({ reason }) => reason)).toEqual(["SessionsLimit", "Demand", "SessionsLimit"]);
  });

  test("below min does the same, and the pool looks for room again soon", () => {
    const [scaling] = trace(Autoscale.parse({ ...quick, min: 5 }), [{ room: three }]);
    expect(scaling).toMatchObject({ size: 3, reason: "SessionsLimit", againMs: 5000 });
  });

  test("that is lifted starts nothing for a demand that is over", () => {
    expect(sizes(quick, [{ held: 8, room: three }, { held: 1, room: three }, { held: 1 }])).toEqual([3, 3, 3]);
  });

  test("bounds what the fill rate is a percentage of, so that a large max starts no flood", () => {
    const huge = Autoscale.parse({ ...quick, max: 2_000_000_000 });
    expect(trace(huge, [{ room: three }, { held: 2, room: { ...three, size: 0 } }])[0]?.fillBase).toBe(3);
    expect(trace(Autoscale.parse(quick), [{}])[0]?.fillBase).toBe(10);
    expect(trace(huge, [{ room: { ...three, size: 0 } }])[0]?.fillBase).toBe(1);
  });
});

// POOL-30
test("the reason says what the size comes from", () => {
  const scalings = trace(Autoscale.parse({ ...quick, min: 1 }), [{}, { held: 3 }, { held: 11 }, { held: 9 }]);
  expect(scalings.map(({ reason }) => reason)).toEqual(["AtMin", "Demand", "AtMax", "ScaleDownStabilized"]);
  expect(scalings.map(({ againMs }) => againMs)).toEqual([undefined, undefined, undefined, 5001]);
});

const anySecond: fc.Arbitrary<Second> = fc.record(
  {
    held: fc.integer({ min: 0, max: 20 }),
    after: fc.constantFrom(1, 1, 1, 7, 40),
    waiting: fc.integer({ min: 0, max: 20 }),
    room: fc.record({ size: fc.integer({ min: 0, max: 20 }), limit: fc.constant("SessionsLimit" as const) }),
    restarted: fc.boolean(),
    isRecovering: fc.boolean(),
    nowMs: fc.integer({ min: 0, max: 4_000_000_000_000 }),
  },
  { requiredKeys: ["held"] },
);

const anyAutoscale = fc
  .record({
    bounds: fc.tuple(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 1, max: 12 })),
    buffer: fc.constantFrom(0, 3, "0%", "20%", "250%"),
    scaleDownAfterSeconds: fc.integer({ min: 1, max: 90 }),
    schedule: fc.constantFrom(undefined, [{ start: "08:00", end: "07:00", max: 12 }]),
  })
  .map(({ bounds, ...rest }) => Autoscale.parse({ ...rest, min: Math.min(...bounds), max: Math.max(...bounds) }));

// POOL-26, POOL-28
test("whatever comes: within max and the room, never smaller than what was wanted in the quiet time, and little is kept", () => {
  fc.assert(
    fc.property(anyAutoscale, fc.array(anySecond, { maxLength: 150 }), (autoscale, load) => {
      const scalings = trace(autoscale, load);
      let before = 0;
      const times = load.map((_, place) => load.slice(0, place + 1).reduce((sum, { after = 1 }) => sum + after, -1));
      for (const [place, { size, max, min, recent }] of scalings.entries()) {
        const { held = 0, waiting = 0, room = anyRoom } = load[place] ?? {};
        expect(size).toBeLessThanOrEqual(max);
        if (size > before) expect(size).toBeLessThanOrEqual(room.size);
        if (size < before && size < max) {
          // What was wanted at the beginning of the quiet time counts as well.
          const begin = (times[place] ?? 0) - autoscale.scaleDownAfterSeconds;
          const quiet = load.slice(0, place + 1).filter((_, other) => (times[other + 1] ?? Infinity) > begin);
          const highest = Math.max(...quiet.map((one) => (one.held ?? 0) + (one.waiting ?? 0)));
          expect(size).toBeGreaterThanOrEqual(Math.min(before, highest, max));
          expect(size).toBeGreaterThanOrEqual(min);
          expect(quiet.slice(1).some(({ restarted }) => restarted)).toBe(false);
        }
        if (size === before) {
          const asked = held + waiting + bufferOf(autoscale.buffer, held);
          expect(Math.min(Math.max(asked, min), max, room.size)).toBeLessThanOrEqual(size);
        }
        expect(recent.steps.length).toBeLessThanOrEqual(62);
        before = size;
      }
    }),
  );
});
