import type { Pod } from "../../../platform/kube/objects.ts";
import type { Observed, ObservedPod } from "../observe/observed.ts";
import type { PoolAction, PoolPlan } from "../plan/actions.ts";

/** Counts each start of a browser once, by its result: starts that this replica began, and starts that it observed. */
export type StartCount = {
  /** This replica has created a pod: it may be ready, or have failed, before a round observes it. */
  begun(podUid: string): void;
  /** The API server did not create a pod. */
  refused(): void;
  /** Counts the starts that ended in a round, by its input and its plan. */
  note(observed: Pick<Observed, "pods">, plan: Pick<PoolPlan, "actions">): void;
  /** Drops all data of a pod that is gone. */
  forget(podUid: string): void;
};

const hasStarted = ({ state }: ObservedPod): boolean => state.is === "warm" || state.is === "known";

const isFailure = (action: PoolAction): action is PoolAction & { do: "delete" } =>
  action.do === "delete" && (action.why === "FailedStart" || action.why === "StartDeadlineExceeded");

/** Calls `count` with the result of each start, and with the pod that is ready. */
export const createStartCount = (count: (result: "ready" | "failed", pod?: Pod) => void): StartCount => {
  const starting = new Set<string>();
  return {
    begun: (podUid) => void starting.add(podUid),
    refused: () => count("failed"),
    note({ pods }, { actions }) {
      for (const { uid, state } of pods) if (state.is === "starting") starting.add(uid);
      for (const { uid, pod } of pods.filter(hasStarted)) if (starting.delete(uid)) count("ready", pod);
      for (const { pod } of actions.filter(isFailure)) if (starting.delete(pod.uid)) count("failed");
    },
    forget: (podUid) => void starting.delete(podUid),
  };
};
