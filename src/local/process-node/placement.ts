/** What of a scheduler's rules counts on a single node: cordons and taints. */
import type { Node, Pod } from "../../kube/objects.ts";

type Taint = NonNullable<NonNullable<Node["spec"]>["taints"]>[number];

/** As a scheduler takes a cordon, so that a pod may tolerate it. */
const cordon: Taint = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };

const isTolerated = ({ spec }: Pod, { key, value = "", effect }: Taint): boolean =>
  spec?.tolerations?.some((toleration) => {
    if (toleration.effect && toleration.effect !== effect) return false;
    if (!toleration.key) return toleration.operator === "Exists";
    return toleration.key === key && (toleration.operator === "Exists" || (toleration.value ?? "") === value);
  }) ?? false;

/** Why this pod is not put on this node, in a scheduler's words; undefined when it may be. */
export const whyNotPlaced = (pod: Pod, { spec }: Node): string | undefined => {
  if (spec?.unschedulable && !isTolerated(pod, cordon)) return "node(s) were unschedulable";
  const taint = spec?.taints?.find((one) => one.effect !== "PreferNoSchedule" && !isTolerated(pod, one));
  return taint && `node(s) had untolerated taint {${taint.key}: ${taint.value ?? ""}}`;
};
