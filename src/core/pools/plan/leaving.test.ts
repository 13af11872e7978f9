import { describe, expect, test } from "vitest";
import { anObserved, aPod, aPool, nowMs, podKinds } from "../../../../test/support/observed-pool.ts";
import { full, planned } from "../../../../test/support/planned.ts";
import { planPool } from "./plan.ts";

describe("on a node that goes away", () => {
  test("what is idle is retired at once, what starts is deleted, who is in use is marked, and one event tells", () => {
    const kinds = ["cordoned idle", "cordoned starting", "cordoned leased", "cordoned suspect", "idle"] as const;
    expect(planned(full(...kinds))).toEqual([
      "delete cordoned-starting-1 NodeLeaving",
      "note NodeLeaving",
      "leave cordoned-idle-0,cordoned-leased-2,cordoned-suspect-3 NodeLeaving",
    ]);
  });

  test("nothing is said or done twice", () => {
    expect(planned(full("marked leased"))).toEqual([]);
  });

  test("a warm one enters, and must not become idle", () => {
    const [look] = planPool(anObserved(full("cordoned warm")), nowMs).actions;
    expect(look).toMatchObject({ do: "inspect", why: "Warm", leaving: "NodeLeaving" });
  });

  test("who is in use has until the drain deadline; then the session ends, and one event tells", () => {
    const inUse = (leavingForMs: number) =>
      aPod("x", { ...podKinds["marked leased"], leavingForMs, browser: "leased", leaving: "NodeLeaving" });
    const before = anObserved({ pods: [inUse(599_000)] });
    expect(planned(before)).toEqual([]);
    expect(planPool(before, nowMs).requeueAfterMs).toBe(1000);
    expect(planned({ pods: [inUse(600_000)] })).toEqual([
      "close x node_drained",
      "delete x NodeLeaving",
      "note NodeDrained",
    ]);
  });

  test("the mark is taken back when the node is of use again", () => {
    expect(planned(full("marked and welcome"))).toEqual(["stay marked-and-welcome-0 NodeLeaving"]);
  });

  test("what leaves is replaced at the fill rate when it is gone, and the pool does not shrink for it", () => {
    const observed = { ...full("cordoned idle", "idle"), leases: { unpaced: 1 } };
    expect(planned(observed)).toEqual(["note NodeLeaving", "leave cordoned-idle-0 NodeLeaving"]);
  });
});

describe("a pod that somebody else deletes", () => {
  test("serves its lease on, and its browser is marked; an idle one is retired", () => {
    expect(planned(full("evicted leased", "evicted idle"))).toEqual(["leave evicted-leased-0,evicted-idle-1 Evicted"]);
  });

  test("is inspected when Redis knows nothing of it, since it may be in use", () => {
    const { actions } = planPool(anObserved(full("evicted unknown")), nowMs);
    expect(actions).toMatchObject([{ do: "inspect", why: "Warm", leaving: "Evicted", afterMs: 0 }]);
  });

  test("is deleted again with the operator's short grace when nobody may get it any more", () => {
    expect(planned(full("evicted retired"))).toEqual(["delete evicted-retired-0 Retired"]);
    expect(planned(full("terminating retired"))).toEqual([]);
  });

  test("after a drain the eviction is what counts", () => {
    const evicted = aPod("x", {
      ...podKinds["evicted leased"],
      node: { leaving: "it is cordoned" },
      leaving: "NodeLeaving",
    });
    expect(planned({ pods: [evicted] })).toEqual(["leave x Evicted"]);
  });

  test("holds its place until it is gone", () => {
    expect(
      planned({ pool: aPool({ size: 1 }), pods: [aPod("x", { ...podKinds["evicted leased"], leaving: "Evicted" })] }),
    ).toEqual([]);
  });
});
