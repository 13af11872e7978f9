/**
 * The part of the plan that marks the pods of browsers in use: a PodDisruptionBudget selects by the label, Cluster
 * Autoscaler reads the annotation (pod.ts); pure.
 *
 * Each mark is a write to the API server, so short leases are not marked: a browser must be in use, or idle, for some
 * seconds by Redis' clock. Only its pod's grace period protects a younger lease.
 */

import type { Observed, ObservedPod } from "../observe/observed.ts";
import { isMarked } from "../pod/pod.ts";
import type { PoolAction } from "./actions.ts";

/**
 * How long a browser must have its state before its pod shows it, ms. Also the least time between two writes for one
 * browser.
 */
export const unchangedMs = 5000;

/** Writes of one round: when callers take hundreds of browsers at once, the marks cost ten writes a second. */
const marksPerRound = 10;
const nextMarksMs = 1000;

type Marks = { actions: PoolAction[]; requeueAfterMs: number };

/** The change that the pod needs; undefined: the pod keeps what it shows. */
const wanted = ({ state, browser }: ObservedPod): "mark" | "unmark" | undefined => {
  if (state.is !== "known" && state.is !== "unready") return undefined;
  if (browser?.state === "leased") return "mark";
  return browser?.state === "idle" ? "unmark" : undefined;
};

/** `otherwiseMs`: the time to the next round if no mark is due. */
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
