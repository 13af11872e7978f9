import { isDeepStrictEqual } from "node:util";
import type { Kube } from "../../kube/client.ts";
import { hasReason } from "../../kube/kube-error.ts";
import type { Pod } from "../../kube/objects.ts";
import { pods } from "../../kube/resource-type.ts";
import type { Requeue } from "../../kube/work-queue.ts";
import type { PodRunState } from "./pod-run.ts";
import { type Failure, type PodStatus, statusOfFailure, statusOfRun, statusOfUnscheduled } from "./pod-status.ts";

/**
 * A running pod that is not ready is reported only after this, ms: most are ready sooner, and a write saved is one of
 * four in the life of a pod. Longer would hide a slow start from people who look.
 */
const firstReportMs = 2000;

export type PodReports = {
  /** Writes the state into the pod's status when it says something new; asks to be called again for what it held back. */
  report(pod: Pod, state: PodRunState, failure?: Failure): Promise<Requeue | undefined>;
  /** Writes why a pod has no node, when that is news. */
  unscheduled(pod: Pod, message: string): Promise<void>;
  /** Writes that a pod without a process has failed. */
  fail(pod: Pod, failure: Failure): Promise<void>;
  /** The pod with this uid is gone. */
  forget(uid: string | undefined): void;
};

type Told = { status?: PodStatus; runningSinceMs: number };

/** The one writer of the statuses of a node's pods. */
export const createPodReports = (kube: Kube): PodReports => {
  const told = new Map<string | undefined, Told>();

  /** A pod that is gone, or another one by now, needs no report. */
  const write = async (pod: Pod, status: PodStatus): Promise<void> => {
    const { uid } = pod.metadata;
    try {
      await kube.patch(pods, pod.metadata, { metadata: { uid }, status }, { subresource: "status" });
    } catch (error) {
      if (!hasReason(error, "NotFound") && !hasReason(error, "Conflict")) throw error;
    }
  };
  return {
    async report(pod, state, failure) {
      if (state.phase === "starting") return undefined;
      const last: Told = told.get(pod.metadata.uid) ?? { runningSinceMs: performance.now() };
      told.set(pod.metadata.uid, last);
      const heldBackMs = firstReportMs - (performance.now() - last.runningSinceMs);
      const isFirst = last.status === undefined;
      if (isFirst && state.phase === "running" && !state.ready && heldBackMs > 0) return { requeueAfterMs: heldBackMs };

      const former = last.status?.conditions ?? pod.status?.conditions;
      const status = { ...statusOfRun(pod, state, former), ...(failure && { phase: "Failed", ...failure }) };
      if (isDeepStrictEqual(status, last.status)) return undefined;
      await write(pod, status);
      last.status = status;
      return undefined;
    },
    async unscheduled(pod, message) {
      const known = pod.status?.conditions?.find(({ type }) => type === "PodScheduled");
      if (known?.status !== "False" || known.message !== message) await write(pod, statusOfUnscheduled(pod, message));
    },
    fail: (pod, failure) => write(pod, statusOfFailure(failure, pod)),
    forget: (uid) => void told.delete(uid),
  };
};
