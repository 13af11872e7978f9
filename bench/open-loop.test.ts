import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { seededRandom } from "../test/support/seeded-random.ts";
import { openLoop, poissonArrivals } from "./open-loop.ts";

const { signal } = new AbortController();

test("arrivals are the same for the same seed, ascend, and match the rate", () => {
  const load = { perSecond: 300, seconds: 100 };
  const arrivals = poissonArrivals(load, seededRandom(7));
  expect(arrivals).toEqual(poissonArrivals(load, seededRandom(7)));
  expect(arrivals).not.toEqual(poissonArrivals(load, seededRandom(8)));
  expect(arrivals.toSorted((a, b) => a - b)).toEqual(arrivals);
  // Five standard deviations around the mean.
  expect(Math.abs(arrivals.length - 30_000)).toBeLessThan(5 * Math.sqrt(30_000));
  // Of exponential gaps, e^-1 are longer than the mean.
  const gaps = arrivals.map((atMs, index) => atMs - (arrivals[index - 1] ?? 0));
  expect(gaps.filter((gapMs) => gapMs > 1000 / 300).length / gaps.length).toBeCloseTo(1 / Math.E, 1);
});

test("a stall counts for every call that it delays, from the time at which that call was due", async () => {
  let calls = 0;
  const { latencies, errors } = await openLoop({ arrivals: [0, 1, 2, 3], signal }, async () => {
    calls += 1;
    const untilMs = performance.now() + 100;
    if (calls === 1) while (performance.now() < untilMs);
    return {};
  });
  expect(errors).toEqual([]);
  expect(latencies).toHaveLength(4);
  for (const latencyMs of latencies) expect(latencyMs).toBeGreaterThan(90);
});

test("calls do not wait for each other, errors are kept, and work after the answer does not count", async () => {
  let open = 0;
  let most = 0;
  let tidied = 0;
  const tidy = async (): Promise<void> => {
    await sleep(5);
    tidied += 1;
  };
  const { latencies, errors } = await openLoop({ arrivals: [0, 0, 0, 0], signal }, async (index) => {
    open += 1;
    most = Math.max(most, open);
    await sleep(10);
    open -= 1;
    if (index === 2) throw new Error("no browser");
    return { after: tidy() };
  });
  expect(most).toBe(4);
  expect(latencies).toHaveLength(3);
  expect(errors).toEqual([new Error("no browser")]);
  expect(tidied).toBe(3);
});
