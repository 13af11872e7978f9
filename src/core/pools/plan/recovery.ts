/**
 * The part of the plan that handles lost writes of Redis: epochs, inspections, and the end of a recovery; pure.
 *
 *   present ──Redis and the status disagree, or another server answers──► raised in both ──► recovering ──every reachable agent has answered──► present
 */

import type { Observed, ObservedPod } from "../observe/observed.ts";
import type { PoolAction, PoolPlan } from "./actions.ts";
import { leavingReason } from "./leaving.ts";
import { lanes, nextInspection } from "./next-inspection.ts";
import { isFailing } from "./pod-life.ts";
import { recoveryProgress } from "./recovery-progress.ts";
import { poolStatus } from "./status.ts";

/** The operator replaces a warm pod whose agent does not answer for this time, ms. */
export const unreachableMs = 60_000;

/** Time between two rounds of a recovering pool, ms. */
const recoveryRoundMs = 500;

/** A warm pod whose agent has not answered for too long. */
export const isUnreachable = (pod: ObservedPod, nowMs: number): boolean =>
  pod.state.is === "warm" && isFailing(pod) && nowMs - (pod.inspection?.failingSinceMs ?? nowMs) >= unreachableMs;

/**
 * Rule 0: the epoch to begin, above every epoch that Redis, the status or an agent knows; undefined when Redis and the
 * status agree on the present one. A Redis server that was restarted or promoted has the epoch but may lack the writes
 * of the last second.
 */
export const nextEpoch = ({
  leases: { epoch, isSameServer },
  pool,
  agentEpoch,
}: Pick<Observed, "leases" | "pool" | "agentEpoch">): number | undefined => {
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

/** In a recovery the newest leases come first: their callers are about to use them. */
const inOrder = ({ pods, leases }: Observed): ObservedPod[] =>
  leases.recoveringSinceMs === undefined
    ? pods
    : pods.toSorted((a, b) => (b.leasedSinceMs ?? 0) - (a.leasedSinceMs ?? 0));

/** Rule 3: the inspections that are due within this time, ms. */
export const inspections = (observed: Observed, nowMs: number, withinMs: number): PoolAction[] =>
  inOrder(observed).flatMap((pod): PoolAction[] => {
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
        lane: lanes[next.why],
      },
    ];
  });

/**
 * A recovery ends when every agent that may hold a lease has answered under the epoch, but for those that can't be
 * reached.
 */
export const recovery = (observed: Observed): { actions: PoolAction[]; requeueAfterMs?: number } => {
  const progress = recoveryProgress(observed);
  if (!progress) return { actions: [] };
  const isOver = progress.asked === progress.of;
  return {
    actions: isOver ? [{ do: "recovered", epoch: observed.leases.epoch }] : [],
    requeueAfterMs: recoveryRoundMs,
  };
};
