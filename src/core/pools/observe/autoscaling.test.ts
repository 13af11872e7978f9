import { expect, test } from "vitest";
import { anObserved, aPool, aRecord } from "../../../../test/support/observed-pool.ts";
import { Autoscale } from "../../model/pools/autoscale.ts";
import { type AutoscalingInput, createAutoscaling, type PoolScaling } from "./autoscaling.ts";

const autoscale = Autoscale.parse({ min: 0, max: 10, buffer: 0, scaleDownAfterSeconds: 60 });
const inUse = (count: number) => Array.from({ length: count }, (_, place) => aRecord(`b${place}`, "leased"));

/** Decisions one after another. */
const decisions = () => {
  const autoscaling = createAutoscaling();
  let size = 0;
  return {
    autoscaling,
    decide(seconds: number, held: number, more: Partial<AutoscalingInput> = {}): PoolScaling | undefined {
      const scaling = autoscaling.decide({
        pool: aPool({ autoscale }),
        leases: anObserved({ leases: { browsers: [...inUse(held), aRecord("idle", "idle")] } }).leases,
        size,
        room: { size: 100, limit: "SessionsLimit" },
        monotonicMs: seconds * 1000,
        ...more,
      });
      size = scaling?.size ?? size;
      return scaling;
    },
  };
};

// POOL-30
test("a size that changes all the time is told of once a minute, from what was told last", () => {
  const { decide } = decisions();
  const told = [1, 2, 3, 30, 59, 61, 62, 130].map((seconds, place) => decide(seconds, place + 1)?.resized);
  expect(told.filter((one) => one !== undefined)).toEqual([
    { from: 0, to: 1 },
    { from: 1, to: 6 },
    { from: 6, to: 8 },
  ]);
});

// POOL-26
test("a pool whose spec was not in force for a while begins a whole quiet time anew", () => {
  const { decide, autoscaling } = decisions();
  decide(0, 5);
  autoscaling.forget("pool-uid");
  expect([100, 130, 161].map((seconds) => decide(seconds, 0)?.size)).toEqual([5, 5, 0]);
});

// POOL-26
test("nothing shrinks while Redis and the status disagree about the epoch, and a pool that is deleted is left alone", () => {
  const { decide } = decisions();
  decide(0, 5);
  const forgetful = { leases: anObserved({ leases: { epoch: 2 } }).leases };
  expect(decide(200, 0, forgetful)?.size).toBe(5);
  const deleted = aPool({ autoscale }, {}, { deletionTimestamp: "2030-01-01T00:00:00Z" });
  expect(decide(300, 0, { pool: deleted })).toBeUndefined();
  expect(decide(300, 0, { pool: aPool({ size: 3 }) })).toBeUndefined();
});
