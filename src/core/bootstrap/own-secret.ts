import type { Kube } from "../../platform/kube/client.ts";
import { hasReason } from "../../platform/kube/kube-error.ts";
import type { NamespacedRef, NewObject, Secret } from "../../platform/kube/objects.ts";
import { secrets } from "../../platform/kube/resource-type.ts";

/**
 * Reads a Secret, or creates what `make` returns. When replicas start at the same time, one creates it and all get the same. Throws
 * an `Error` when the Secret vanishes meanwhile.
 */
export const readOrCreateSecret = async (
  kube: Kube,
  ref: NamespacedRef,
  make: (ref: NamespacedRef) => NewObject<Secret>,
): Promise<Secret> => {
  const known = await kube.get(secrets, ref);
  if (known) return known;
  try {
    return await kube.create(secrets, make(ref));
  } catch (error) {
    if (!hasReason(error, "AlreadyExists")) throw error;
  }
  const made = await kube.get(secrets, ref);
  if (!made) throw new Error(`Secret ${ref.namespace}/${ref.name} vanished while it was being read`);
  return made;
};
