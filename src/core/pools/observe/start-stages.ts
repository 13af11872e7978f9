import type { Pod } from "../../../platform/kube/objects.ts";
import type { StartStage } from "../../metrics/lead-metrics.ts";
import { agentName } from "../pod/agent-name.ts";

const since = ({ status }: Pod, type: string): number => {
  const condition = status?.conditions?.find((one) => one.type === type && one.status === "True");
  return Date.parse(condition?.lastTransitionTime ?? "");
};

/**
 * How long the stages of a started pod took, s, by the times that Kubernetes writes down, which are whole seconds. Empty
 * when one is missing.
 */
export const startStages = (pod: Pod): [StartStage, number][] => {
  const container = pod.status?.containerStatuses?.find(({ name }) => name === agentName);
  const times = [
    Date.parse(pod.metadata.creationTimestamp ?? ""),
    since(pod, "PodScheduled"),
    Date.parse(container?.state?.running?.startedAt ?? ""),
    since(pod, "Ready"),
  ];
  const stages = ["scheduled", "running", "ready"] as const;
  if (times.some(Number.isNaN)) return [];
  return stages.map((stage, index) => [stage, Math.max(0, ((times[index + 1] ?? 0) - (times[index] ?? 0)) / 1000)]);
};
