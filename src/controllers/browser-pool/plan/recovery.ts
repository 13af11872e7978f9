/**
 * The part of the plan that has to do with what Redis may have lost: epochs, looks, and the end of a recovery; pure.
 *
 *   present ──Redis and the status disagree, or another server answers──► raised in both ──► recovering ──every browser looked at, or 10 s──► present
 */

import type { Observed, ObservedPod } from "../observe/observed.ts";
import type { PoolAction, PoolPlan } from "./actions.ts";
import { leavingReason } from "./leaving.ts";
import { nextInspection } from "./next-inspection.ts";
import { poolStatus } from "./status.ts";

/** A warm pod whose agent does not answer for this time, ms, is replaced. */
export const unreachableMs = 60_000;

/** Longest recovery, ms. After it a session that is not found counts as over, though an agent that could not be asked may hold it. */
const recoveryMs = 10_000;

/** Time between two rounds in which the end of a recovery is waited for, ms. */
const recoveryRoundMs = 500;

/** Its agent did not answer the last look. */
export const isFailing = ({ inspection }: ObservedPod): boolean => inspection !== undefined && inspection.failures > 0;

/** A warm pod that is not to be waited for any longer. */
export const isUnreachable = (pod: ObservedPod, nowMs: number): boolean =>
  pod.state.is === "warm" && isFailing(pod) && nowMs - (pod.inspection?.failingSinceMs ?? nowMs) >= unreachableMs;

/**
 * Rule 0: the epoch to begin, above all that anybody has seen; undefined when Redis and the status agree on the present one.
 * A server that was started again, or was a replica until now, has its epoch and may lack the writes of its last second.
 */
export const nextEpoch = ({ leases: { epoch, isSameServer }, pool, agentEpoch }: Observed): number | undefined => {
  const noted = pool.status?.leaseEpoch ?? 0;
  const isPresent = epoch > 0 && epoch === noted && epoch >= agentEpoch && isSameServer;
  return isPresent ? undefined : Math.max(epoch, noted, agentEpoch) + 1;
};

/** What is noted of the pool stays as it is: the counts of a Redis that was emptied are nobody's business. */
export const planRaise = (seen: Observed, epoch: number, nowMs: number): PoolPlan => {
  const { status } = seen.pool;
  const first = { nowMs, size: 0, failedStarts: 0, nextStartTime: undefined };
  return {
    actions: [{ do: "raise", epoch }],
    status: { ...(status ?? poolStatus(seen, first)), leaseEpoch: epoch },
    requeueAfterMs: 1,
  };
};

/** Rule 3: the looks that are due within this time, ms. */
export const inspections = (seen: Observed, nowMs: number, withinMs: number): PoolAction[] =>
  seen.pods.flatMap((pod): PoolAction[] => {
    const next = nextInspection(pod, seen, nowMs);
    if (!next || next.dueMs > nowMs + withinMs) return [];
    return [
      {
        do: "look",
        pod,
        epoch: seen.leases.epoch,
        leaving: leavingReason(pod),
        afterMs: Math.max(0, Math.ceil(next.dueMs - nowMs)),
        why: next.why,
      },
    ];
  });

/** A recovery is over when every browser that may hold a lease was looked at under the epoch, or its time is up. */
export const recovery = ({ leases, pods }: Observed): { actions: PoolAction[]; requeueAfterMs?: number } => {
  const { epoch, recoveringSinceMs, nowMs } = leases;
  if (recoveringSinceMs === undefined) return { actions: [] };
  const isOpen = (pod: ObservedPod): boolean =>
    (pod.state.is === "warm" || pod.state.is === "known" || pod.state.is === "evicted") &&
    pod.browser?.state !== "retired" &&
    (pod.inspection?.epoch !== epoch || isFailing(pod));
  const isOver = nowMs - recoveringSinceMs >= recoveryMs || !pods.some(isOpen);
  return { actions: isOver ? [{ do: "recovered", epoch }] : [], requeueAfterMs: recoveryRoundMs };
};
