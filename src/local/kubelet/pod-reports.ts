import { isDeepStrictEqual } from "node:util";
import type { Kube } from "../../platform/kube/client.ts";
import { hasReason } from "../../platform/kube/kube-error.ts";
import type { Pod } from "../../platform/kube/objects.ts";
import { pods } from "../../platform/kube/resource-type.ts";
import type { Requeue } from "../../platform/kube/work-queue.ts";
import type { PodRunState } from "./pod-run.ts";
import { type Failure, type PodStatus, statusOfFailure, statusOfRun, statusOfUnscheduled } from "./pod-status.ts";

/**
 * A running pod that is not ready is reported only after this time, ms: most are ready sooner, which saves one of the
 * four writes in the life of a pod. A longer time would hide slow starts from users.
 */
const firstReportMs = 2000;

export type PodReports = {
  /** Writes the state into the pod's status if that changes it. When it delays a write, it asks to be called again. */
  report(pod: Pod, state: PodRunState, failure?: Failure): Promise<Requeue | undefined>;
  /** Writes why a pod has no node, if the reason is new. */
  unscheduled(pod: Pod, message: string): Promise<void>;
  /** Writes that a pod without a process has failed. */
  fail(pod: Pod, failure: Failure): Promise<void>;
  /** The pod with this uid is gone. */
  forget(uid: string | undefined): void;
};

type Reported = { status?: PodStatus; runningSinceMs: number };

/** The only writer of the statuses of a node's pods. */
export const createPodReports = (kube: Kube): PodReports => {
  const reported = new Map<string | undefined, Reported>();

  /** It is no error when the pod is gone or another pod has its name. */
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
      const last: Reported = reported.get(pod.metadata.uid) ?? { runningSinceMs: performance.now() };
      reported.set(pod.metadata.uid, last);
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
    forget: (uid) => void reported.delete(uid),
  };
};
