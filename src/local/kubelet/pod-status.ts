import type { Pod } from "../../platform/kube/objects.ts";
import { hostAddress } from "./node-registration.ts";
import type { PodRunState } from "./pod-run.ts";

export type PodStatus = NonNullable<Pod["status"]>;
type Conditions = NonNullable<PodStatus["conditions"]>;
type StartedState = Exclude<PodRunState, { phase: "starting" }>;

/** Why a pod has failed, if its process's exit code does not show it. */
type FailureReason = "NodeRestart" | "NodeShutdown" | "UnsupportedPod";
export type Failure = { reason: FailureReason; message: string };

/** True when the pod's phase says that it has ended. */
export const isOver = (pod: Pod): boolean => pod.status?.phase === "Failed" || pod.status?.phase === "Succeeded";

const conditionsOf = (former: Conditions, states: Record<string, boolean>, reason: string | undefined): Conditions => {
  const known = new Map(former.map((condition) => [condition.type, condition]));
  for (const [type, isTrue] of Object.entries(states)) {
    const status = isTrue ? "True" : "False";
    const lastTransitionTime =
      known.get(type)?.status === status ? known.get(type)?.lastTransitionTime : new Date().toISOString();
    known.set(type, {
      type,
      status,
      ...(lastTransitionTime && { lastTransitionTime }),
      ...(!isTrue && reason && { reason }),
    });
  }
  return [...known.values()];
};

const containerStatusesOf = (pod: Pod, state: StartedState): NonNullable<PodStatus["containerStatuses"]> => {
  const container = pod.spec?.containers[0];
  const isRunning = state.phase === "running";
  const isReady = isRunning && state.ready;
  const containerState = isRunning
    ? { running: { startedAt: state.startedAt } }
    : {
        terminated: {
          exitCode: state.exitCode,
          reason: state.exitCode === 0 ? "Completed" : "Error",
          message: state.message,
          startedAt: state.startedAt,
          finishedAt: state.finishedAt,
        },
      };
  return [
    {
      name: container?.name ?? "",
      image: container?.image ?? "",
      imageID: "",
      restartCount: 0,
      started: isRunning,
      ready: isReady,
      state: containerState,
      // Processes have no cgroups; the API server resizes no pod whose node does not tell them.
      ...(container?.resources && { resources: container.resources }),
    },
  ];
};

const whyNotReady = (state: StartedState): string => {
  if (state.phase === "running") return "ContainersNotReady";
  return state.exitCode === 0 ? "PodCompleted" : "PodFailed";
};

const phaseOf = (state: StartedState): string => {
  if (state.phase === "running") return "Running";
  return state.exitCode === 0 ? "Succeeded" : "Failed";
};

/**
 * The status of a pod whose process runs or has run. `former`: its present conditions; unchanged ones keep their times.
 */
export const statusOfRun = (pod: Pod, state: StartedState, former: Conditions = []): PodStatus => {
  const isReady = state.phase === "running" && state.ready;
  const states = { PodScheduled: true, Initialized: true, ContainersReady: isReady, Ready: isReady };
  return {
    phase: phaseOf(state),
    hostIP: hostAddress,
    hostIPs: [{ ip: hostAddress }],
    ...(state.podIp && { podIP: state.podIp, podIPs: [{ ip: state.podIp }] }),
    startTime: state.startedAt,
    conditions: conditionsOf(former, states, whyNotReady(state)),
    containerStatuses: containerStatusesOf(pod, state),
  };
};

/** The status of a pod that has no process on this node and gets none. */
export const statusOfFailure = ({ reason, message }: Failure, pod: Pod): PodStatus => ({
  phase: "Failed",
  reason,
  message,
  conditions: conditionsOf(pod.status?.conditions ?? [], { ContainersReady: false, Ready: false }, "PodFailed"),
});

/** The status of a pod that this node can't take now. */
export const statusOfUnscheduled = (pod: Pod, message: string): PodStatus => ({
  conditions: conditionsOf(pod.status?.conditions ?? [], { PodScheduled: false }, "Unschedulable").map((condition) =>
    condition.type === "PodScheduled" ? { ...condition, message } : condition,
  ),
});
