import { describe, expect, test } from "vitest";
import {
  anObserved,
  aPod,
  aPool,
  nowMs,
  type ObservedOptions,
  type PodOptions,
  podKinds,
  podsOf,
} from "../../../../test/support/observed-pool.ts";
import { planPool } from "./plan.ts";

const plan = (observed: ObservedOptions) => planPool(anObserved(observed), nowMs);
const done = (observed: ObservedOptions): string[] => plan(observed).actions.map((action) => action.do);

describe("the epoch", () => {
  const noted = (leaseEpoch: number | undefined) => aPool({}, { leaseEpoch, available: 7 });

  test.each<[string, ObservedOptions, number]>([
    ["a new pool begins with the first", { pool: noted(undefined), leases: { epoch: 0 } }, 1],
    ["Redis was emptied", { pool: noted(3), leases: { epoch: 0 } }, 4],
    ["Redis has an older state", { pool: noted(3), leases: { epoch: 2 } }, 4],
    ["it was noted and did not begin", { pool: noted(4), leases: { epoch: 3 } }, 5],
    ["Kubernetes has an older state", { pool: noted(2), leases: { epoch: 6 } }, 7],
    ["both have, and an agent knows more", { pool: noted(1), leases: { epoch: 1 }, agentEpoch: 8 }, 9],
  ])("%s", (_, observed, epoch) => {
    const { actions, status, requeueAfterMs } = plan({ ...observed, pods: podsOf("warm", "retired", "failed start") });
    expect(actions).toEqual([{ do: "raise", epoch }]);
    expect(status).toMatchObject({ leaseEpoch: epoch, available: 7 });
    expect(requeueAfterMs).toBe(1);
  });

  // POOL-25
  test("a pool that is new is not ready before its browsers are up", () => {
    const { status: _, ...pool } = aPool({ size: 2 });
    const { status } = plan({ pool, leases: { epoch: 0 } });
    expect(status.conditions.find(({ type }) => type === "Ready")).toMatchObject({
      status: "False",
      message: "0 of 2 browsers up",
    });
  });

  test("is kept in the status of every round, and comes before a deletion", () => {
    expect(plan({ pods: podsOf("idle") }).status.leaseEpoch).toBe(1);
    const pool = aPool({}, { leaseEpoch: 2 }, { deletionTimestamp: "2030-01-01T00:00:00Z" });
    expect(done({ pool, pods: podsOf("warm") })).toEqual(["raise"]);
  });
});

describe("a recovery", () => {
  const underEpoch = { inspection: { epoch: 2 } };
  const recovering = (pods: PodOptions[], sinceMs = nowMs - 1000) => ({
    pool: aPool({ size: pods.length }, { leaseEpoch: 2 }),
    pods: pods.map((options, place) => aPod(`pod-${place}`, options)),
    leases: { epoch: 2, recoveringSinceMs: sinceMs },
  });

  test.each<[string, PodOptions]>([
    ["a browser that is not known yet", podKinds.warm],
    ["one that was inspected under the epoch before", podKinds.idle],
    ["one whose agent does not answer", { ...podKinds.idle, inspection: { epoch: 2, failures: 1 } }],
  ])("waits for %s, but not for ever", (_, open) => {
    const pods = [{ ...podKinds.idle, ...underEpoch }, open];
    expect(done(recovering(pods))).not.toContain("recovered");
    expect(plan(recovering(pods)).requeueAfterMs).toBeLessThanOrEqual(500);
    expect(done(recovering(pods, nowMs - 10_000))).toContain("recovered");
  });

  test("is over when every browser that may hold a lease was inspected", () => {
    const kinds: PodOptions[] = [podKinds.idle, podKinds.leased].map((kind) => ({ ...kind, ...underEpoch }));
    expect(done(recovering([...kinds, podKinds.starting, podKinds.retired]))).toContain("recovered");
  });

  test("of a pool that was not being recovered is not ended", () => {
    expect(done({ pods: podsOf("idle") })).toEqual([]);
  });
});
