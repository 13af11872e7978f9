import type { Pod } from "../../../platform/kube/objects.ts";
import type { StartStage } from "../../metrics/lead-metrics.ts";
import { agentName } from "../pod/agent-name.ts";

const since = ({ status }: Pod, type: string): number => {
  const condition = status?.conditions?.find((one) => one.type === type && one.status === "True");
  return Date.parse(condition?.lastTransitionTime ?? "");
};

/** A stage of a start, and when it began and ended, ms since 1970. */
type TimedStage = { stage: StartStage; startMs: number; endMs: number };

/**
 * The stages of a started pod, by the times that Kubernetes writes down, which are whole seconds. Empty when one is
 * missing. None ends before it begins.
 */
export const startStages = (pod: Pod): TimedStage[] => {
  const container = pod.status?.containerStatuses?.find(({ name }) => name === agentName);
  const times = [
    Date.parse(pod.metadata.creationTimestamp ?? ""),
    since(pod, "PodScheduled"),
    Date.parse(container?.state?.running?.startedAt ?? ""),
    since(pod, "Ready"),
  ];
  if (times.some(Number.isNaN)) return [];
  const stages = ["scheduled", "running", "ready"] as const;
  return stages.map((stage, index) => {
    const [startMs = 0, endMs = 0] = times.slice(index);
    return { stage, startMs, endMs: Math.max(startMs, endMs) };
  });
};
