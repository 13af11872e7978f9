/**
 * Which pods belong to an object. Whoever may create pods anywhere in the cluster can give one a pool's label, so the
 * label only finds candidates. A pod belongs to the object in whose namespace it is, and which it names as its
 * controller, by uid.
 */
import type { Pod } from "../../../platform/kube/objects.ts";
import { poolLabel } from "./pod.ts";

/** An object that has browsers: a pool, or an on-demand browser. `apiVersion`, `kind`: of the object itself. */
export type BrowserOwner = {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace: string; uid: string };
};

type Kind = Pick<BrowserOwner, "apiVersion" | "kind">;

/** The uid of the object of this kind that the pod names as its controller, if its label names the same one. */
export const ownerUidOf = ({ metadata }: Pick<Pod, "metadata">, { apiVersion, kind }: Kind): string | undefined => {
  const controller = metadata.ownerReferences?.find((reference) => reference.controller);
  if (controller?.apiVersion !== apiVersion || controller.kind !== kind) return undefined;
  return metadata.labels?.[poolLabel] === controller.uid ? controller.uid : undefined;
};

/** Why a pod is not one of this owner's, as text for users; undefined for its own pods. */
export const whyForeign = (pod: Pick<Pod, "metadata">, owner: BrowserOwner): string | undefined => {
  const { name, namespace, uid } = owner.metadata;
  if (pod.metadata.namespace !== namespace) return `it is not in the namespace ${namespace}`;
  if (ownerUidOf(pod, owner) === uid) return undefined;
  return `its controller is not the ${owner.kind} ${name} with the uid ${uid}`;
};
