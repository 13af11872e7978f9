/**
 * The part of the plan that handles lost writes of Redis: epochs, inspections, and the end of a recovery; pure.
 *
 *   present ──Redis and the status disagree, or another server answers──► raised in both ──► recovering ──every browser inspected, or 10 s──► present
 */

import type { Observed, ObservedPod } from "../observe/observed.ts";
import type { PoolAction, PoolPlan } from "./actions.ts";
import { leavingReason } from "./leaving.ts";
import { nextInspection } from "./next-inspection.ts";
import { poolStatus } from "./status.ts";

/** The operator replaces a warm pod whose agent does not answer for this time, ms. */
export const unreachableMs = 60_000;

/**
 * Longest recovery, ms. After it, a session that is not found counts as ended, though an agent that did not answer may still hold
 * it.
 */
const recoveryMs = 10_000;

/** Time between two rounds of a recovering pool, ms. */
const recoveryRoundMs = 500;

/** The agent did not answer the last inspection. */
export const isFailing = ({ inspection }: ObservedPod): boolean => inspection !== undefined && inspection.failures > 0;

/** A warm pod whose agent has not answered for too long. */
export const isUnreachable = (pod: ObservedPod, nowMs: number): boolean =>
  pod.state.is === "warm" && isFailing(pod) && nowMs - (pod.inspection?.failingSinceMs ?? nowMs) >= unreachableMs;

/**
 * Rule 0: the epoch to begin, above every epoch that Redis, the status or an agent knows; undefined when Redis and the status agree
 * on the present one. A Redis server that was restarted or promoted has the epoch but may lack the writes of the last second.
 */
export const nextEpoch = ({ leases: { epoch, isSameServer }, pool, agentEpoch }: Observed): number | undefined => {
  const statusEpoch = pool.status?.leaseEpoch ?? 0;
  const isPresent = epoch > 0 && epoch === statusEpoch && epoch >= agentEpoch && isSameServer;
  return isPresent ? undefined : Math.max(epoch, statusEpoch, agentEpoch) + 1;
};

/** Changes only the epoch of the status: an emptied Redis would give wrong counts. */
export const planRaise = (observed: Observed, epoch: number, nowMs: number): PoolPlan => {
  const { status } = observed.pool;
  const first = { nowMs, failedStarts: 0, nextStartTime: undefined };
  return {
    actions: [{ do: "raise", epoch }],
    status: { ...(status ?? poolStatus(observed, first)), leaseEpoch: epoch },
    requeueAfterMs: 1,
  };
};

/** Rule 3: the inspections that are due within this time, ms. */
export const inspections = (observed: Observed, nowMs: number, withinMs: number): PoolAction[] =>
  observed.pods.flatMap((pod): PoolAction[] => {
    const next = nextInspection(pod, observed, nowMs);
    if (!next || next.dueMs > nowMs + withinMs) return [];
    return [
      {
        do: "inspect",
        pod,
        epoch: observed.leases.epoch,
        leaving: leavingReason(pod),
        afterMs: Math.max(0, Math.ceil(next.dueMs - nowMs)),
        why: next.why,
      },
    ];
  });

/** A recovery ends when every browser that may have a lease was inspected under the epoch, or after `recoveryMs`. */
export const recovery = ({ leases, pods }: Observed): { actions: PoolAction[]; requeueAfterMs?: number } => {
  const { epoch, recoveringSinceMs, nowMs } = leases;
  if (recoveringSinceMs === undefined) return { actions: [] };
  const needsInspection = (pod: ObservedPod): boolean =>
    (pod.state.is === "warm" || pod.state.is === "known" || pod.state.is === "evicted") &&
    pod.browser?.state !== "retired" &&
    (pod.inspection?.epoch !== epoch || isFailing(pod));
  const isOver = nowMs - recoveringSinceMs >= recoveryMs || !pods.some(needsInspection);
  return { actions: isOver ? [{ do: "recovered", epoch }] : [], requeueAfterMs: recoveryRoundMs };
};
