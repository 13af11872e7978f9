import type { Observed, ObservedPod } from "../observe/observed.ts";
import { isInspectable } from "./next-inspection.ts";
import { isFailing } from "./pod-life.ts";

/**
 * How long a recovery waits for an agent that was asked and did not answer, ms from its begin. After it, a session that
 * is not found counts as ended, though that agent may still hold it.
 */
const unansweredMs = 10_000;

/**
 * The browsers of a pool that is recovered, and how many of them have answered or can't be reached; undefined: it is
 * not recovered now.
 */
export const recoveryProgress = (observed: Observed): { asked: number; of: number } | undefined => {
  const { epoch, recoveringSinceMs, nowMs } = observed.leases;
  if (recoveringSinceMs === undefined) return undefined;
  const isPatient = nowMs - recoveringSinceMs < unansweredMs;
  const isAsked = (pod: ObservedPod): boolean =>
    pod.inspection?.epoch === epoch && !isFailing(pod) ? true : pod.askedUnder === epoch && !isPatient;
  const mayHold = observed.pods.filter((pod) => isInspectable(pod, nowMs));
  return { asked: mayHold.filter(isAsked).length, of: mayHold.length };
};
