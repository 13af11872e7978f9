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

  const late = nowMs - 60_000;

  // LEASE-62
  test.each<[string, PodOptions]>([
    ["a browser that is not known yet", podKinds.warm],
    ["one that was inspected under the epoch before", podKinds.idle],
    ["one in use that does not answer its probe", { ...podKinds["unready leased"], inspection: { epoch: 1 } }],
  ])("waits for %s, however many there are", (_, open) => {
    const pods = [{ ...podKinds.idle, ...underEpoch }, open];
    expect(done(recovering(pods))).not.toContain("recovered");
    expect(done(recovering(pods, late))).not.toContain("recovered");
    expect(plan(recovering(pods)).requeueAfterMs).toBeLessThanOrEqual(500);
  });

  test.each<[string, PodOptions]>([
    ["does not answer", { ...podKinds.idle, inspection: { epoch: 2, failures: 1 } }],
    ["takes no token of this replica", { ...podKinds.idle, inspection: { epoch: 1 }, askedUnder: 2 }],
    ["is on a silent node", { ...podKinds.warm, askedUnder: 2 }],
  ])("waits for 10 s for an agent that %s", (_, open) => {
    const pods = [{ ...podKinds.idle, ...underEpoch }, open];
    expect(done(recovering(pods, nowMs - 9_999))).not.toContain("recovered");
    expect(done(recovering(pods, nowMs - 10_000))).toContain("recovered");
  });

  // LEASE-62
  test("asks at once, the newest leases first, before all that can wait", () => {
    const pods = [
      { ...podKinds.warm },
      { ...podKinds.warm, leasedSinceMs: nowMs - 90_000 },
      { ...podKinds.idle, inspection: { epoch: 1 } },
      { ...podKinds.warm, leasedSinceMs: nowMs - 1000 },
    ];
    const asked = plan(recovering(pods)).actions.filter((action) => action.do === "inspect");
    expect(asked.map(({ pod }) => pod.uid)).toEqual(["pod-3", "pod-1", "pod-0", "pod-2"]);
    expect(asked.map(({ why, lane, afterMs }) => [why, lane, afterMs])).toEqual(
      Array.from({ length: 4 }, () => ["Lost", "recovery", 0]),
    );
  });

  // LEASE-62
  test("tells how far it is in the status, in steps", () => {
    const message = (asked: number) => {
      const pods = Array.from({ length: 20 }, (_, n) =>
        n < asked ? { ...podKinds.idle, ...underEpoch } : podKinds.warm,
      );
      const { conditions } = plan(recovering(pods)).status;
      return conditions.find(({ type }) => type === "Progressing");
    };
    expect(message(9)).toMatchObject({
      status: "True",
      reason: "Recovering",
      message: "Redis has lost data: 25 % or more of 20 browsers were asked for their leases",
    });
    expect(message(14)?.message).toBe(message(10)?.message);
    expect(message(20)?.reason).toBe("Filled");
  });

  test("is over when every browser that may hold a lease was inspected", () => {
    const kinds: PodOptions[] = [podKinds.idle, podKinds.leased].map((kind) => ({ ...kind, ...underEpoch }));
    expect(done(recovering([...kinds, podKinds.starting, podKinds.retired]))).toContain("recovered");
  });

  test("of a pool that was not being recovered is not ended", () => {
    expect(done({ pods: podsOf("idle") })).toEqual([]);
  });
});
