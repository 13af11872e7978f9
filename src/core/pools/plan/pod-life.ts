/** Questions about one pod that several parts of the plan ask; pure. */
import type { ObservedPod } from "../observe/observed.ts";

/**
 * How long after the end of its grace period a terminating pod still counts as alive, ms. A node that is gone never
 * confirms the end.
 */
const lostNodeMs = 30_000;

/** ms since the epoch; 0 for an undefined time. */
export const timeMs = (time: string | undefined): number => (time ? Date.parse(time) : 0);

/** Whether the pod's process may still run. */
export const isAlive = ({ state, pod }: ObservedPod, nowMs: number): boolean => {
  if (state.is === "ended") return false;
  if (!pod.metadata.deletionTimestamp) return true;
  return nowMs < timeMs(pod.metadata.deletionTimestamp) + lostNodeMs;
};

/** Whether a session holds the browser, or its release has not ended yet. */
export const isInUse = ({ browser }: ObservedPod): boolean =>
  browser?.state === "leased" || browser?.state === "releasing";

/** The scheduler has found no node for the pod (yet); that is no failure of its browser. */
export const isUnscheduled = ({ pod: { spec, status } }: ObservedPod): boolean =>
  !spec?.nodeName &&
  (status?.conditions?.some(({ type, status: is }) => type === "PodScheduled" && is === "False") ?? false);

/** When the pod got its node, ms since the epoch; without a node, when it was created. */
export const placedAtMs = ({ pod: { metadata, status } }: ObservedPod): number => {
  const placed = status?.conditions?.find(({ type, status: is }) => type === "PodScheduled" && is === "True");
  return Math.max(timeMs(metadata.creationTimestamp), timeMs(placed?.lastTransitionTime));
};

/** The agent did not answer the last inspection. */
export const isFailing = ({ inspection }: ObservedPod): boolean => inspection !== undefined && inspection.failures > 0;
