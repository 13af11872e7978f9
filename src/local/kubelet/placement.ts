/** The rules of a scheduler that matter on a single node: cordons and taints. */
import type { Node, Pod } from "../../platform/kube/objects.ts";

type Taint = NonNullable<NonNullable<Node["spec"]>["taints"]>[number];

/** The taint by which a scheduler treats a cordon, so that a pod can tolerate it. */
const cordon: Taint = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };

const isTolerated = ({ spec }: Pod, { key, value = "", effect }: Taint): boolean =>
  spec?.tolerations?.some((toleration) => {
    if (toleration.effect && toleration.effect !== effect) return false;
    if (!toleration.key) return toleration.operator === "Exists";
    return toleration.key === key && (toleration.operator === "Exists" || (toleration.value ?? "") === value);
  }) ?? false;

/** Why this pod can't be placed on this node, as a scheduler words it; undefined when it can. */
export const whyNotPlaced = (pod: Pod, { spec }: Node): string | undefined => {
  if (spec?.unschedulable && !isTolerated(pod, cordon)) return "node(s) were unschedulable";
  const taint = spec?.taints?.find((one) => one.effect !== "PreferNoSchedule" && !isTolerated(pod, one));
  return taint && `node(s) had untolerated taint {${taint.key}: ${taint.value ?? ""}}`;
};
