/**
 * The part of the plan for browsers that must leave; pure.
 *
 *   Evicted      something other than the operator deletes its pod: a drain, an eviction, a user
 *   NodeLeaving  its node is cordoned, will be removed, or is gone
 *   PodOutdated  its image or pod template is outdated, and the rollout has reached it (rollout.ts)
 *
 * A browser that starts or is idle goes at once. A browser in use goes when its lease ends: a leaving mark in its
 * record makes sure of that (core/leases/leaving-marks.ts). Each round computes the marks anew, so it sets a lost mark
 * again and removes one whose reason is gone.
 *
 * A silent node may come back, so browsers stay on it. But when the agent of a browser in use does not answer for
 * `lostMs` on a silent node, nothing can use that browser: its lease ends.
 */

import type { Observed, ObservedPod } from "../observe/observed.ts";
import type { LeavingReason, PoolAction } from "./actions.ts";
import { isAlive } from "./pod-life.ts";

/** How long the agent of a browser in use may be silent on a silent node, ms. */
const lostMs = 60_000;

/** Why a browser must leave; undefined when it may stay. */
export const leavingReason = ({ state, node }: ObservedPod): LeavingReason | undefined => {
  if (state.is === "evicted") return "Evicted";
  return node?.leaving ? "NodeLeaving" : undefined;
};

/** The browser has a record, and the leaving mark in it is missing or has another reason. */
const isMarkStale = (pod: ObservedPod): boolean =>
  pod.browser !== undefined && pod.browser.state !== "retired" && pod.browser.leaving !== leavingReason(pod);

/** The browser starts on a node that it would have to leave at once. */
export const startsOnLeavingNode = ({ state, node }: ObservedPod): boolean =>
  state.is === "starting" && node?.leaving !== undefined;

/** The browser is idle: setting its leaving mark retires it at once. */
export const leavesAtOnce = (pod: ObservedPod): boolean =>
  pod.browser?.state === "idle" && leavingReason(pod) !== undefined;

const newMarks = ({ pods }: Observed): PoolAction[] =>
  (["Evicted", "NodeLeaving"] as const).flatMap((why): PoolAction[] => {
    const ids = pods.filter((pod) => isMarkStale(pod) && leavingReason(pod) === why).map(({ uid }) => uid);
    return ids.length > 0 ? [{ do: "leave", ids, why }] : [];
  });

/**
 * Removes the marks of browsers whose node may be used again, or whose image is the present one again. An eviction is
 * final.
 */
const staleMarks = ({ pods }: Observed): PoolAction[] => {
  const mayStay = pods.filter((pod) => !leavingReason(pod));
  const moved = mayStay.filter((pod) => pod.browser?.leaving === "NodeLeaving");
  const renewed = mayStay.filter((pod) => pod.browser?.leaving === "PodOutdated" && !pod.isOutdated);
  const stay = (those: ObservedPod[], why: LeavingReason): PoolAction[] =>
    those.length > 0 ? [{ do: "stay", ids: those.map(({ uid }) => uid), why }] : [];
  return [...stay(moved, "NodeLeaving"), ...stay(renewed, "PodOutdated")];
};

/** One note for each node, however many of its browsers are concerned. */
const perNode = (pods: ObservedPod[], note: (pod: ObservedPod) => PoolAction): PoolAction[] =>
  [...new Map(pods.map((pod) => [pod.node?.name, pod])).values()].map(note);

const notes = (observed: Observed, nowMs: number): PoolAction[] => [
  ...perNode(
    observed.pods.filter(
      (pod) => leavingReason(pod) === "NodeLeaving" && (isMarkStale(pod) || startsOnLeavingNode(pod)),
    ),
    ({ node }) => ({
      do: "note",
      type: "Normal",
      reason: "NodeLeaving",
      note: `browsers leave the node ${node?.name}, those in use when their sessions end: ${node?.leaving}`,
    }),
  ),
  ...perNode(
    observed.pods.filter((pod) => isDrained(pod, observed, nowMs)),
    ({ node }) => ({
      do: "note",
      type: "Warning",
      reason: "NodeDrained",
      note: `sessions on the node ${node?.name} are over: it leaves, and they had ${observed.drainDeadlineMs / 1000} s to end`,
    }),
  ),
  ...perNode(
    observed.pods.filter((pod) => isLostWithNode(pod, nowMs)),
    ({ node }) => ({
      do: "note",
      type: "Warning",
      reason: "NodeLost",
      note: `sessions on the node ${node?.name} are over: it is silent, and their browsers did not answer for ${lostMs / 1000} s`,
    }),
  ),
];

/** The changes of leaving marks, and the Events about them. */
export const leaving = (observed: Observed, nowMs: number): PoolAction[] => [
  ...notes(observed, nowMs),
  ...newMarks(observed),
  ...staleMarks(observed),
];

/** When the session on a leaving node must end, ms by Redis' clock; undefined when there is none, or it may stay. */
export const drainDeadline = ({ browser }: ObservedPod, { drainDeadlineMs }: Observed): number | undefined =>
  browser?.state === "leased" && browser.leaving === "NodeLeaving" && browser.leaving_since !== undefined
    ? browser.leaving_since + drainDeadlineMs
    : undefined;

/** The browser is in use on a leaving node, and its time there is over. */
export const isDrained = (pod: ObservedPod, observed: Observed, nowMs: number): boolean =>
  nowMs >= (drainDeadline(pod, observed) ?? Infinity);

/** The browser is in use, but its node is lost and its agent has not answered for `lostMs`. */
export const isLostWithNode = (pod: ObservedPod, nowMs: number): boolean =>
  pod.browser?.state === "leased" &&
  isAlive(pod, nowMs) &&
  pod.node?.isLost === true &&
  pod.inspection !== undefined &&
  pod.inspection.failures > 0 &&
  nowMs - pod.inspection.failingSinceMs >= lostMs;
