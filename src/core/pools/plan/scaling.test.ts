import { describe, expect, test } from "vitest";
import { anObserved, aPool, aScaling, nowMs, podsOf } from "../../../../test/support/observed-pool.ts";
import { at, planned } from "../../../../test/support/planned.ts";
import { Autoscale } from "../../model/pools/autoscale.ts";
import { planPool } from "./plan.ts";

const pool = (status: object = {}, spec: object = {}) =>
  aPool({ autoscale: Autoscale.parse({ min: 0, max: 10 }), ...spec }, status);

const condition = (observed: Parameters<typeof anObserved>[0], type: string) =>
  planPool(anObserved(observed), nowMs).status.conditions.find((one) => one.type === type);

// POOL-23, POOL-28, POOL-30
describe("an autoscaled pool", () => {
  test("has as many browsers as autoscale says, and its status keeps that size", () => {
    const scaling = aScaling({ size: 3 });
    expect(planned({ pool: pool(), scaling, pods: podsOf("idle", "leased") })).toEqual(["create 1 paced"]);
    expect(planPool(anObserved({ pool: pool(), scaling }), nowMs).status.acceptedSize).toBe(3);
  });

  test("at size 0 starts nothing and is ready; idle browsers go", () => {
    const scaling = aScaling({ size: 0 });
    expect(planned({ pool: pool(), scaling })).toEqual([]);
    expect(condition({ pool: pool(), scaling }, "Ready")).toMatchObject({ status: "True", reason: "Filled" });
    expect(planned({ pool: pool(), scaling, pods: podsOf("idle", "leased") })).toEqual(["retire 1 of idle-0 Surplus"]);
  });

  // FILL-RATE-1
  test("starts browsers at a percentage of the largest size that it may have", () => {
    const scaling = aScaling({ size: 1, fillBase: 10 });
    const plan = planPool(anObserved({ pool: pool({}, { fillRatePerMinute: 20 }), scaling }), nowMs);
    expect(plan.status.nextStartTime).toBe(at(nowMs + 30_000));
  });

  test("is ready with its minimum while it grows", () => {
    const scaling = aScaling({ min: 1, size: 3 });
    expect(condition({ pool: pool(), scaling, pods: podsOf("idle") }, "Ready")).toMatchObject({
      status: "True",
      reason: "MinimumAvailable",
      message: "1 of 3 browsers up",
    });
    expect(condition({ pool: pool(), scaling }, "Ready")).toMatchObject({ status: "False", reason: "Filling" });
  });

  test("says what its size comes from, and whether something holds it back", () => {
    const limited = (reason: Parameters<typeof aScaling>[0] & object) =>
      condition({ pool: pool(), scaling: aScaling(reason) }, "ScalingLimited");
    expect(limited({ reason: "Demand" })).toMatchObject({ status: "False", reason: "Demand" });
    expect(limited({ reason: "ScaleDownStabilized" })).toMatchObject({ status: "False" });
    expect(limited({ reason: "AtMax" })).toMatchObject({ status: "True", reason: "AtMax" });
    expect(limited({ reason: "PooledSessionsLimit" })).toMatchObject({ status: "True", reason: "PooledSessionsLimit" });
  });

  test("keeps the size that it had while its spec is refused", () => {
    const refused = {
      pool: pool({ acceptedSize: 2 }),
      refusal: { reason: "InvalidSpec", message: "no" } as const,
      pods: podsOf("idle", "idle", "idle"),
    };
    expect(planned(refused)).toEqual([]);
    expect(planPool(anObserved(refused), nowMs).status.acceptedSize).toBe(2);
    expect(condition(refused, "ScalingLimited")).toBeUndefined();
  });

  test("tells of a new size by an Event", () => {
    const scaling = aScaling({ size: 2, resized: { from: 5, to: 2 } });
    const { actions } = planPool(anObserved({ pool: pool(), scaling, pods: podsOf("idle", "idle") }), nowMs);
    expect(actions).toContainEqual({
      do: "note",
      type: "Normal",
      reason: "Rescaled",
      note: "the size goes from 5 to 2: the size is what callers and the buffer want",
    });
  });

  test("gets its next round when the quiet time may be over", () => {
    const plan = planPool(anObserved({ pool: pool(), scaling: aScaling({ size: 0, againMs: 1234 }) }), nowMs);
    expect(plan.requeueAfterMs).toBe(1234);
  });
});

test("a pool of a fixed size has no such condition", () => {
  expect(condition({ pool: aPool({ size: 1 }) }, "ScalingLimited")).toBeUndefined();
});
