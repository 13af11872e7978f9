import type { Node } from "../../../platform/kube/objects.ts";
import type { ObservedNode } from "./observed.ts";

/**
 * Taints that announce that a node will be removed, each with the component that sets it.
 * `DeletionCandidateOfClusterAutoscaler` is not among them: it is a preference (PreferNoSchedule) for nodes that may be
 * removed in ten minutes, and is often withdrawn.
 */
const drainTaints = new Set([
  "ToBeDeletedByClusterAutoscaler", // Cluster Autoscaler, before it drains
  "karpenter.sh/disrupted", // Karpenter, before it drains
  "node.kubernetes.io/unschedulable", // the node controller, for a cordon
  "node.kubernetes.io/out-of-service", // an administrator: the machine is off
]);

const leavingReason = ({ spec }: Node): string | undefined => {
  if (spec?.unschedulable) return "it is cordoned";
  const taint = spec?.taints?.find(({ key, effect }) => drainTaints.has(key) && effect !== "PreferNoSchedule");
  return taint && `it has the taint ${taint.key}`;
};

/** When a kubelet stops reporting, Kubernetes sets the node's Ready condition to Unknown, after 40 s by default. */
const isSilent = ({ status }: Node): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === "Ready" && is !== "True") ?? false;

/**
 * The state of a node as it concerns the browsers on it; pure. `node`: undefined when no node has this name (any more).
 */
export const nodeState = (name: string, node: Node | undefined): ObservedNode => {
  if (!node) return { name, leaving: "it is gone", isLost: true, isGone: true };
  return { name, leaving: leavingReason(node), isLost: isSilent(node), isGone: false };
};
