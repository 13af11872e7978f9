import { secretFinalizer } from "../../platform/kinds/finalizers.ts";
import type { NamespacedObject } from "../../platform/kube/objects.ts";
import { type ResourceType, secrets } from "../../platform/kube/resource-type.ts";
import { dropFinalizer } from "./finalizers.ts";
import type { ObjectDeps } from "./object-deps.ts";

/**
 * Deletes the Secret of an object that is being deleted, then removes the object's finalizer. The caller gives the Secret's name:
 * the operator has the right to delete Secrets but not to read or list them.
 */
export const deleteOwnSecret = async <T extends NamespacedObject>(
  kind: ResourceType<T>,
  { object, secret }: { object: T; secret: string },
  { kube, lead }: ObjectDeps,
): Promise<void> => {
  const { finalizers = [], namespace } = object.metadata;
  if (!finalizers.includes(secretFinalizer)) return;
  lead.check();
  await kube.delete(secrets, { name: secret, namespace });
  await dropFinalizer(kind, { object, finalizer: secretFinalizer }, kube);
};
