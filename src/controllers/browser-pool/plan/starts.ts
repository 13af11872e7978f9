/**
 * The part of the plan that starts browsers, at the fill rate, and counts those that did not come up; pure.
 *
 * At most one paced start a round, at `nextStartTime` or later, and all unpaced ones. While starts fail they are tried one by one,
 * further and further apart, until one comes up. A pod without a node has not begun to start. None is made in a namespace that
 * is not ready for browsers yet.
 */
import { failedStartBackOffMs, startIntervalMs } from "../../../domain/fill-pacing.ts";
import type { Observed, ObservedPod } from "../observe/observed.ts";
import { failedStartsBefore } from "../pod/pod.ts";
import type { Deletion, PoolAction } from "./actions.ts";
import { isUnscheduled, placedAtMs, timeMs } from "./pod-life.ts";

/** A pod that is not ready this long after it got its node, ms, counts as a failed start: a cold Chromium on a busy node takes seconds, an image pull minutes. */
export const startDeadlineMs = 180_000;

/** A round for every pool even when nothing seems to happen, ms. */
export const resyncMs = 30_000;

/** Whether a pod has had its node for longer than `startDeadlineMs` without becoming ready. `nowMs`: since the epoch. */
export const isLate = (pod: ObservedPod, nowMs: number): boolean =>
  pod.state.is === "starting" && !isUnscheduled(pod) && nowMs - placedAtMs(pod) > startDeadlineMs;

/** Ended without ever having entered the pool; `stopped` is the wish of whoever deleted it. */
export const isFailedStart = ({ state, browser }: ObservedPod): boolean =>
  state.is === "ended" && !browser && state.reason !== "stopped";

/** When the fill rate allows the next start, ms since the epoch, and how far apart starts are, ms; Infinity while it allows none. */
export type Slot = { dueMs: number; everyMs: number };

/** While starts fail they are further apart. */
export const nextSlot = (seen: Observed, failedStarts: number, nowMs: number): Slot => {
  const { spec, status } = seen.pool;
  const backOffMs = failedStartBackOffMs(failedStarts);
  const everyMs = Math.max(startIntervalMs(spec), backOffMs);
  const hasFailed = failedStarts > (status?.failedStarts ?? 0);
  // A rate that was raised counts at once: what was reserved at the old one is never further away than the new one wants.
  const reservedMs = Math.min(timeMs(status?.nextStartTime), Math.ceil(nowMs + everyMs));
  return { dueMs: Math.max(reservedMs, hasFailed ? nowMs + backOffMs : 0), everyMs };
};

export type Starts = { actions: PoolAction[]; nextStartTime: string | undefined; requeueAfterMs: number };

/** `missing`: how many browsers the pool is short of. */
export const starts = (seen: Observed, missing: number, { dueMs, everyMs }: Slot, nowMs: number): Starts => {
  const unpaced = Math.min(missing, seen.leases.unpaced);
  const actions: PoolAction[] = unpaced > 0 ? [{ do: "create", count: unpaced, paced: false }] : [];
  const kept = dueMs > 0 ? new Date(dueMs).toISOString() : undefined;
  if (seen.waitsFor !== undefined) return { actions: [], nextStartTime: kept, requeueAfterMs: resyncMs };
  if (missing - unpaced <= 0 || !Number.isFinite(everyMs))
    return { actions, nextStartTime: kept, requeueAfterMs: resyncMs };
  if (dueMs > nowMs) return { actions, nextStartTime: kept, requeueAfterMs: dueMs - nowMs };
  const nextMs = Math.ceil(nowMs + everyMs);
  return {
    actions: [...actions, { do: "create", count: 1, paced: true }],
    nextStartTime: new Date(nextMs).toISOString(),
    requeueAfterMs: nextMs - nowMs,
  };
};

/** Starts that were under way together count once: they tell of one trouble, and one by one they would add up to minutes. */
export const nextFailedStarts = (seen: Observed, dying: Deletion[], isWarm: boolean): number => {
  if (isWarm) return 0;
  const known = seen.pool.status?.failedStarts ?? 0;
  const isFirstOfRound = dying.some(
    ({ pod, why }) =>
      (why === "FailedStart" || why === "StartDeadlineExceeded") && failedStartsBefore(pod.pod) >= known,
  );
  return isFirstOfRound ? known + 1 : known;
};
