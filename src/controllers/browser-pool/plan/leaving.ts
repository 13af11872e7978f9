/**
 * The part of the plan that has to do with browsers that are to leave their place; pure.
 *
 *   Evicted      its pod is being deleted by somebody else: drained, evicted, by hand
 *   NodeLeaving  its node is cordoned, announced to be removed, or gone
 *   PodOutdated  its image or pod template is not the present one, and its turn has come (rollout.ts)
 *
 * Who starts in such a place goes at once, and so does who is idle; who is in use goes when its lease ends, which a mark in its record
 * sees to (leases/leaving-marks.ts). The mark follows from what is seen: it is set anew after a loss, and taken back when the reason
 * for it is gone.
 *
 * A node that is silent may come back, so nobody leaves it. But a browser in use whose node and agent are both silent for long
 * can't be used by anybody: its lease ends.
 */

import type { Observed, ObservedPod } from "../observe/observed.ts";
import type { LeavingReason, PoolAction } from "./actions.ts";
import { isAlive } from "./pod-life.ts";

/** How long the agent of a browser in use may be silent on a silent node, ms. */
const lostMs = 60_000;

/** Why a browser is to leave its place; undefined when it may stay there. */
export const leavingReason = ({ state, node }: ObservedPod): LeavingReason | undefined => {
  if (state.is === "evicted") return "Evicted";
  return node?.leaving ? "NodeLeaving" : undefined;
};

/** Known to the leases, which are not told yet that it leaves, or why. */
const isMarkStale = (pod: ObservedPod): boolean =>
  pod.browser !== undefined && pod.browser.state !== "retired" && pod.browser.leaving !== leavingReason(pod);

/** It starts on a node that is leaving: nobody waits for it there. */
export const startsOnLeavingNode = ({ state, node }: ObservedPod): boolean =>
  state.is === "starting" && node?.leaving !== undefined;

/** It is idle, and retired at once. */
export const leavesAtOnce = (pod: ObservedPod): boolean =>
  pod.browser?.state === "idle" && leavingReason(pod) !== undefined;

const newMarks = ({ pods }: Observed): PoolAction[] =>
  (["Evicted", "NodeLeaving"] as const).flatMap((why): PoolAction[] => {
    const ids = pods.filter((pod) => isMarkStale(pod) && leavingReason(pod) === why).map(({ uid }) => uid);
    return ids.length > 0 ? [{ do: "leave", ids, why }] : [];
  });

/** Their node is of use again, or their image the wanted one. An eviction is for good. */
const staleMarks = ({ pods }: Observed): PoolAction[] => {
  const mayStay = pods.filter((pod) => !leavingReason(pod));
  const moved = mayStay.filter((pod) => pod.browser?.leaving === "NodeLeaving");
  const renewed = mayStay.filter((pod) => pod.browser?.leaving === "PodOutdated" && !pod.isOutdated);
  const stay = (those: ObservedPod[], why: LeavingReason): PoolAction[] =>
    those.length > 0 ? [{ do: "stay", ids: those.map(({ uid }) => uid), why }] : [];
  return [...stay(moved, "NodeLeaving"), ...stay(renewed, "PodOutdated")];
};

/** One for each node, whatever number of browsers it is about. */
const perNode = (pods: ObservedPod[], note: (pod: ObservedPod) => PoolAction): PoolAction[] =>
  [...new Map(pods.map((pod) => [pod.node?.name, pod])).values()].map(note);

const notes = (seen: Observed, nowMs: number): PoolAction[] => [
  ...perNode(
    seen.pods.filter((pod) => leavingReason(pod) === "NodeLeaving" && (isMarkStale(pod) || startsOnLeavingNode(pod))),
    ({ node }) => ({
      do: "note",
      type: "Normal",
      reason: "NodeLeaving",
      note: `browsers leave the node ${node?.name}, those in use when their sessions end: ${node?.leaving}`,
    }),
  ),
  ...perNode(
    seen.pods.filter((pod) => isLostWithNode(pod, nowMs)),
    ({ node }) => ({
      do: "note",
      type: "Warning",
      reason: "NodeLost",
      note: `sessions on the node ${node?.name} are over: it is silent, and their browsers did not answer for ${lostMs / 1000} s`,
    }),
  ),
];

/** What is told to the leases and to people. */
export const leaving = (seen: Observed, nowMs: number): PoolAction[] => [
  ...notes(seen, nowMs),
  ...newMarks(seen),
  ...staleMarks(seen),
];

/** In use, and nobody can reach it. */
export const isLostWithNode = (pod: ObservedPod, nowMs: number): boolean =>
  pod.browser?.state === "leased" &&
  isAlive(pod, nowMs) &&
  pod.node?.isLost === true &&
  pod.inspection !== undefined &&
  pod.inspection.failures > 0 &&
  nowMs - pod.inspection.failingSinceMs >= lostMs;
