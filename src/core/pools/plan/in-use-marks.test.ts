import { describe, expect, test } from "vitest";
import { anObserved, aPod, aPool, nowMs, type PodKind, podKinds } from "../../../../test/support/observed-pool.ts";
import { full, planned } from "../../../../test/support/planned.ts";
import { unchangedMs } from "./in-use-marks.ts";
import { planPool } from "./plan.ts";

describe("rule 8: the mark of a pod", () => {
  test("comes when its browser is in use for some seconds, and goes when it is idle for as long", () => {
    expect(planned(full("long leased", "long idle, marked"))).toEqual([
      "mark long-leased-0",
      "unmark long-idle,-marked-1",
    ]);
    expect(planned(full("leased", "long leased, marked", "just idle, marked", "idle"))).toEqual([]);
  });

  test("is looked after when its time has come, however quiet the pool is", () => {
    const wait = (...kinds: PodKind[]): number => planPool(anObserved(full(...kinds)), nowMs).requeueAfterMs;
    expect(wait("leased", "long leased, marked")).toBe(unchangedMs);
    expect(wait("just idle, marked")).toBe(unchangedMs);
    expect(wait("idle", "long leased, marked")).toBe(30_000);
  });

  test("stays as it is while a browser is between two states, or its pod is going", () => {
    const going = { ...podKinds["evicted leased"], ageMs: 9000, leaving: "Evicted" };
    const pods = [
      aPod("a", { ...podKinds.releasing, ageMs: 9000, marked: true }),
      aPod("b", { ...podKinds.suspect, ageMs: 9000, marked: true }),
      aPod("c", going),
    ];
    expect(planned({ pool: aPool({ size: 3 }), pods })).toEqual([]);
  });

  test("is given to ten a round, those that have waited longest, and then again before long", () => {
    const pods = Array.from({ length: 12 }, (_, place) =>
      aPod(`${place}`, { ...podKinds.leased, ageMs: 5000 + place }),
    );
    const observed = { pool: aPool({ size: 12 }), pods };
    expect(planned(observed)).toEqual(Array.from({ length: 10 }, (_, place) => `mark ${11 - place}`));
    expect(planPool(anObserved(observed), nowMs).requeueAfterMs).toBe(1000);
  });
});
