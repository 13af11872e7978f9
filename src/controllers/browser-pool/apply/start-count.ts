import type { Observed, ObservedPod } from "../observe/observed.ts";
import type { PoolAction, PoolPlan } from "../plan/actions.ts";

/** Counts how starts of browsers end, each once: of those that were begun here, and those that were seen to start. */
export type StartCount = {
  /** A pod that this replica has made: it may be up, or have failed, before any round sees it. */
  begun(podUid: string): void;
  /** Takes in a round: what it saw and decided. */
  note(seen: Pick<Observed, "pods">, plan: Pick<PoolPlan, "actions">): void;
  /** Drops what is known of a pod that is gone. */
  forget(podUid: string): void;
};

const hasStarted = ({ state }: ObservedPod): boolean => state.is === "warm" || state.is === "known";

const isFailure = (action: PoolAction): action is PoolAction & { do: "delete" } =>
  action.do === "delete" && (action.why === "FailedStart" || action.why === "StartDeadlineExceeded");

/** `count` is called with how a start has ended. */
export const createStartCount = (count: (result: "ready" | "failed") => void): StartCount => {
  const starting = new Set<string>();
  return {
    begun: (podUid) => void starting.add(podUid),
    note({ pods }, { actions }) {
      for (const { uid, state } of pods) if (state.is === "starting") starting.add(uid);
      for (const { uid } of pods.filter(hasStarted)) if (starting.delete(uid)) count("ready");
      for (const { pod } of actions.filter(isFailure)) if (starting.delete(pod.uid)) count("failed");
    },
    forget: (podUid) => void starting.delete(podUid),
  };
};
