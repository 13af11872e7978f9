import { expect, test } from "vitest";
import { anObserved, aPod, aPool, nowMs } from "../../../../test/support/observed-pool.ts";
import { createExpectations } from "../../../platform/kube/expectations.ts";
import type { Pod } from "../../../platform/kube/objects.ts";
import { openGate } from "../../reconcile/start-gate.ts";
import { planPool } from "../plan/plan.ts";
import { poolLabel } from "../pod/pod.ts";
import { createAutoscaling } from "./autoscaling.ts";
import { type ObserveDeps, observePool } from "./observe.ts";

const pool = aPool();
const uid = pool.metadata.uid;
const observed = aPod("browser", { state: { is: "warm" } });
const meta = { apiVersion: pool.apiVersion ?? "", kind: pool.kind ?? "" };
const ownerReferences = [{ ...meta, name: pool.metadata.name, uid, controller: true }];
const pod = {
  ...observed.pod,
  metadata: { ...observed.pod.metadata, uid: "browser", labels: { [poolLabel]: uid }, ownerReferences },
};
const ready = [{ type: "Ready", status: "True" }];
const warm = { ...pod, status: { ...pod.status, phase: "Running", conditions: ready } } as Pod;

/** A browser whose agent has been silent for this time, and by how much Redis' clock was set meanwhile, ms. */
const deps = (silentMs: number, setByMs: number): ObserveDeps => {
  const monotonicMs = 1_000_000;
  const failingSinceMs = monotonicMs - silentMs;
  const inspection = { atMs: monotonicMs - 1, epoch: 1, failures: 1, failingSinceMs };
  return {
    refusedStarts: { of: () => undefined },
    resizes: { mayTry: () => true },
    source: { get: () => pool, meta },
    podsByOwner: { of: (owner) => (owner === uid ? [warm] : []), size: () => 1 },
    leasedSince: new Map(),
    store: {
      snapshot: async () => anObserved({ leases: { nowMs: nowMs + setByMs } }).leases,
      endedLease: async () => undefined,
    },
    expectations: createExpectations(),
    dying: new Set(),
    acceptedSizes: new Map(),
    autoscaling: createAutoscaling(),
    roomOf: () => ({ size: 1, limit: "SessionsLimit" }),
    inspections: { lastInspection: () => inspection, askedUnder: () => 1, agentEpoch: () => 1 },
    nodes: { find: async () => new Map() },
    setupRequests: { stateOf: async () => undefined },
    disturbedAtMs: () => 0,
    monotonicMs: () => monotonicMs,
    podSettings: { image: "browser:1", agentPublicKey: "key", template: undefined },
    drainDeadlineMs: 600_000,
    refusalOf: () => undefined,
    profileOf: () => undefined,
    savers: { has: async () => false },
    gate: openGate,
  };
};

const reasons = async (silentMs: number, setByMs: number): Promise<string[]> => {
  const observed = await observePool("project/pool", deps(silentMs, setByMs));
  if (!observed) throw new Error("the pool is there");
  return planPool(observed, observed.leases.nowMs).actions.flatMap((action) =>
    action.do === "delete" ? [action.why] : [],
  );
};

const minute = 60_000;
test.each([0, 631_000, -403_000])(
  "how long an agent is silent is not told by a clock that was set by %i ms",
  async (setByMs) => {
    expect(await reasons(minute - 1, setByMs)).toEqual([]);
    expect(await reasons(minute, setByMs)).toEqual(["Unreachable"]);
  },
);
