/**
 * The part of the plan that starts browsers at the fill rate and counts failed starts; pure.
 *
 * A round makes at most one paced start, at `nextStartTime` or later, and a batch of unpaced ones. While starts fail,
 * the operator tries them one by one, further and further apart, until one succeeds; so it does while the API server
 * refuses pods (apply/refused-starts.ts). A pod without a node has not begun to start. In a namespace that is not ready
 * for browsers yet, it starts none.
 */

import { failedStartBackOffMs, startIntervalMs } from "../../model/pools/fill-pacing.ts";
import { presentSize } from "../../model/pools/pool-size.ts";
import type { Observed, ObservedPod } from "../observe/observed.ts";
import { failedStartsBefore } from "../pod/pod.ts";
import type { Deletion, PoolAction } from "./actions.ts";
import { isUnscheduled, placedAtMs, timeMs } from "./pod-life.ts";

/**
 * A pod that is not ready this long after it got its node, ms, is a failed start: a cold Chromium on a busy node takes
 * seconds, an image pull minutes.
 */
export const startDeadlineMs = 180_000;

/** Every pool has a round at least this often, ms, even without an event. */
export const resyncMs = 30_000;

/**
 * Whether a pod has had its node for longer than `startDeadlineMs` without becoming ready. `nowMs`: since the epoch.
 */
export const isLate = (pod: ObservedPod, nowMs: number): boolean =>
  pod.state.is === "starting" && !isUnscheduled(pod) && nowMs - placedAtMs(pod) > startDeadlineMs;

/** The pod ended before it was registered. `stopped` is no failure: the pod was deleted. */
export const isFailedStart = ({ state, browser }: ObservedPod): boolean =>
  state.is === "ended" && !browser && state.reason !== "stopped";

/**
 * When the fill rate allows the next start, ms since the epoch, and the time between starts, ms; Infinity while filling
 * is paused.
 */
export type Slot = { dueMs: number; everyMs: number };

/** The slot of the next paced start. While starts fail, they are further apart. */
export const nextSlot = (observed: Observed, failedStarts: number, nowMs: number): Slot => {
  const { spec, status } = observed.pool;
  const { fillRatePerMinute } = spec;
  const size = observed.scaling?.fillBase ?? presentSize(observed.pool);
  const backOffMs = failedStartBackOffMs(failedStarts);
  const everyMs = Math.max(startIntervalMs({ size, fillRatePerMinute }), backOffMs);
  const hasFailed = failedStarts > (status?.failedStarts ?? 0);
  // The slot of a start that the API server refused is free again.
  const refused = observed.refusedCreation;
  if (refused && !refused.mayExist) return { dueMs: 0, everyMs };
  // A raised rate counts at once: cap the time that was reserved at the old rate.
  const reservedMs = Math.min(timeMs(status?.nextStartTime), Math.ceil(nowMs + everyMs));
  return { dueMs: Math.max(reservedMs, hasFailed ? nowMs + backOffMs : 0), everyMs };
};

/** Unpaced starts of one round, and the time to the next batch, ms: each is two writes to the API server. */
const unpacedAtOnce = 32;
const nextBatchMs = 250;

type Starts = { actions: PoolAction[]; nextStartTime: string | undefined; requeueAfterMs: number };

/** `missing`: how many browsers the pool lacks. */
export const starts = (observed: Observed, missing: number, { dueMs, everyMs }: Slot, nowMs: number): Starts => {
  const refused = observed.refusedCreation;
  if (refused && missing > 0 && refused.nextMs > nowMs)
    return {
      actions: [],
      nextStartTime: observed.pool.status?.nextStartTime,
      requeueAfterMs: Math.max(1, Math.ceil(refused.nextMs - nowMs)),
    };
  const owed = Math.min(missing, observed.leases.unpaced);
  const unpaced = Math.min(owed, refused ? 1 : unpacedAtOnce);
  const actions: PoolAction[] = unpaced > 0 ? [{ do: "create", count: unpaced, paced: false }] : [];
  const kept = dueMs > 0 ? new Date(dueMs).toISOString() : undefined;
  if (observed.waitsFor !== undefined) return { actions: [], nextStartTime: kept, requeueAfterMs: resyncMs };
  if (owed > unpaced) return { actions, nextStartTime: kept, requeueAfterMs: nextBatchMs };
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

/**
 * Starts that ran at the same time and failed count once: they have one cause, and counted one by one they would back
 * off for minutes.
 */
export const nextFailedStarts = (observed: Observed, dying: Deletion[], isWarm: boolean): number => {
  if (isWarm) return 0;
  const known = observed.pool.status?.failedStarts ?? 0;
  const isFirstOfRound = dying.some(
    ({ pod, why }) =>
      (why === "FailedStart" || why === "StartDeadlineExceeded") && failedStartsBefore(pod.pod) >= known,
  );
  return isFirstOfRound ? known + 1 : known;
};
