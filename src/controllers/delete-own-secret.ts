import type { NamespacedObject } from "../kube/objects.ts";
import { type ResourceType, secrets } from "../kube/resource-type.ts";
import { secretFinalizer } from "../resources/finalizers.ts";
import { dropFinalizer } from "./finalizers.ts";
import type { VaultDeps } from "./vault-deps.ts";

/**
 * Deletes the Secret that belongs to an object that is being deleted, and lets the object go. The Secret is named, not looked
 * for: the operator may delete Secrets and read none.
 */
export const deleteOwnSecret = async <T extends NamespacedObject>(
  kind: ResourceType<T>,
  { object, secret }: { object: T; secret: string },
  { kube, lead }: VaultDeps,
): Promise<void> => {
  const { finalizers = [], namespace } = object.metadata;
  if (!finalizers.includes(secretFinalizer)) return;
  lead.check();
  await kube.delete(secrets, { name: secret, namespace });
  await dropFinalizer(kind, { object, finalizer: secretFinalizer }, kube);
};
