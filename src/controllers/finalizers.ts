/** Finalizers: written only by a change of the very version that was read, as a merge patch replaces the list whole. */
import type { Kube } from "../kube/client.ts";
import type { KubeObject } from "../kube/objects.ts";
import type { ResourceType } from "../kube/resource-type.ts";

/** The object with the finalizer; writes only when it is missing. Nothing is added to what is being deleted. */
export const withFinalizer = async <T extends KubeObject>(
  kind: ResourceType<T>,
  { object, finalizer }: { object: T; finalizer: string },
  kube: Kube,
): Promise<T> => {
  const { finalizers = [], deletionTimestamp, resourceVersion } = object.metadata;
  if (deletionTimestamp || finalizers.includes(finalizer)) return object;
  const metadata = { finalizers: [...finalizers, finalizer], resourceVersion };
  return kube.patch(kind, object.metadata, { metadata });
};

/** Takes the finalizer off, which lets a deleted object go. */
export const dropFinalizer = async <T extends KubeObject>(
  kind: ResourceType<T>,
  { object, finalizer }: { object: T; finalizer: string },
  kube: Kube,
): Promise<void> => {
  const { finalizers = [], resourceVersion } = object.metadata;
  const metadata = { finalizers: finalizers.filter((other) => other !== finalizer), resourceVersion };
  await kube.patch(kind, object.metadata, { metadata });
};
