import { describe, expect, test } from "vitest";
import {
  anObserved,
  aPod,
  aPool,
  nowMs,
  type PodKind,
  podKinds,
  podsOf,
} from "../../../../test/support/observed-pool.ts";
import { at, full, planned } from "../../../../test/support/planned.ts";
import { planPool } from "./plan.ts";

describe("rule 7: browsers of an earlier image or pod template", () => {
  const rolling = { outdatedPods: 1 };
  const old = (kinds: PodKind[], status = {}, rate = 25) => ({
    pods: podsOf(...kinds),
    pool: aPool({ size: kinds.length, fillRatePerMinute: rate }, { ...rolling, ...status }),
  });

  test("of idle ones the longest idle goes, one at a time, so that the next start replaces it", () => {
    const pods = [
      aPod("new", { ...podKinds["old idle"], ageMs: 10 }),
      aPod("old", { ...podKinds["old idle"], ageMs: 9000 }),
    ];
    const observed = { pods, pool: aPool({ size: 2 }, rolling) };
    expect(planned(observed)).toEqual(["retire 1 of old,new PodOutdated"]);
    expect(planPool(anObserved(observed), nowMs).status.nextStartTime).toBeUndefined();
  });

  test("when none is idle, the one that is in use the longest is marked, which uses up a start", () => {
    const pods = [aPod("b", podKinds["old leased"]), aPod("a", { ...podKinds["old leased"], ageMs: 900 })];
    const observed = { pods, pool: aPool({ size: 2, fillRatePerMinute: 1000 }, rolling) };
    expect(planned(observed)).toEqual(["leave a PodOutdated"]);
    const { status, requeueAfterMs } = planPool(anObserved(observed), nowMs);
    expect(status.nextStartTime).toBe(at(nowMs + 3000));
    expect(requeueAfterMs).toBe(3000);
  });

  test("who is marked already is not marked again, and the next one has its turn", () => {
    expect(planned(old(["old leased, marked"]))).toEqual([]);
    expect(planned(old(["old leased, marked", "old leased"]))).toEqual(["leave old-leased-1 PodOutdated"]);
  });

  test.each<[string, ReturnType<typeof old>]>([
    ["before a start is due", old(["old idle", "idle"], { nextStartTime: at(nowMs + 1) })],
    ["while filling is paused", old(["old idle", "idle"], {}, 0)],
    ["while a browser starts", old(["old idle", "starting"])],
    ["while a pod is ending", old(["old idle", "terminating retired"])],
    [
      "while one of them is missing",
      { ...old(["old idle", "idle"], { nextStartTime: at(nowMs + 1) }), pods: podsOf("old idle") },
    ],
  ])("none goes %s", (_, observed) => {
    expect(planned(observed)).toEqual([]);
  });

  test("none goes while a created one is not seen yet, of a pool that has shrunk since: that one is surplus already", () => {
    const observed = { ...old(["old idle", "old idle"]), pendingCreations: 1 };
    expect(planned(observed)).toEqual(["retire 1 of old-idle-0,old-idle-1 Surplus"]);
  });

  test("it is inspected again when the next start is due", () => {
    const observed = anObserved(old(["old idle", "idle"], { nextStartTime: at(nowMs + 4000) }));
    expect(planPool(observed, nowMs).requeueAfterMs).toBe(4000);
  });

  test("nobody replaces what is of the present one, and a mark is taken back when its browser is of that again", () => {
    expect(planned({ ...full("idle", "leased") })).toEqual([]);
    expect(planned(full("leased, marked as old"))).toEqual(["stay leased,-marked-as-old-0 PodOutdated"]);
  });

  test("people are told of the beginning and of the end", () => {
    expect(planned({ pods: podsOf("old idle"), pool: aPool() })).toContain("note RollStarted");
    expect(planned(old(["idle"]))).toEqual(["note RollCompleted"]);
    expect(planned({ pods: podsOf("old idle"), pool: aPool({ fillRatePerMinute: 0 }) })).toEqual([]);
  });

  test("of a pool that shrinks they go before those of the present one", () => {
    expect(planned({ pods: podsOf("idle", "old idle"), pool: aPool({ size: 1 }, rolling) })).toContain(
      "retire 1 of old-idle-1,idle-0 Surplus",
    );
  });
});
