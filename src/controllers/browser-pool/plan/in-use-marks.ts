/**
 * The part of the plan that shows on pods which browsers are in use, for those who go by that: a PodDisruptionBudget selects by the
 * label, Cluster Autoscaler reads the annotation (pod.ts); pure.
 *
 * Each mark is a write to the API server, so nothing is marked that is over soon: a browser has to be in use, or idle, for some
 * seconds, by Redis' clock. A lease that is younger is protected by its pod's grace period alone.
 */

import type { Observed, ObservedPod } from "../observe/observed.ts";
import { isMarked } from "../pod/pod.ts";
import type { PoolAction } from "./actions.ts";

/** How long a browser has been as it is before its pod shows it, ms. Also the least time between two writes for one browser. */
export const unchangedMs = 5000;

/** Writes of one round: a pool of hundreds that is taken at once costs ten a second. */
const marksPerRound = 10;
const nextMarksMs = 1000;

export type Marks = { actions: PoolAction[]; requeueAfterMs: number };

/** What its pod should show; undefined: what it shows now. */
const wanted = ({ state, browser }: ObservedPod): "mark" | "unmark" | undefined => {
  if (state.is !== "known" && state.is !== "unready") return undefined;
  if (browser?.state === "leased") return "mark";
  return browser?.state === "idle" ? "unmark" : undefined;
};

/** `otherwiseMs`: when to look again if nothing is due. */
export const marks = ({ pods, leases }: Observed, otherwiseMs: number): Marks => {
  const changes = pods.flatMap((pod) => {
    const action = wanted(pod);
    if (!action || (action === "mark") === isMarked(pod.pod)) return [];
    return [{ action, pod, dueInMs: (pod.browser?.since ?? 0) + unchangedMs - leases.nowMs }];
  });
  const due = changes.filter(({ dueInMs }) => dueInMs <= 0).sort((a, b) => a.dueInMs - b.dueInMs);
  const later = changes.filter(({ dueInMs }) => dueInMs > 0).map(({ dueInMs }) => dueInMs);
  return {
    actions: due.slice(0, marksPerRound).map(({ action, pod }) => ({ do: action, pod })),
    requeueAfterMs: due.length > marksPerRound ? nextMarksMs : Math.min(otherwiseMs, ...later),
  };
};
