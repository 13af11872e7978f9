/** Finalizers. A merge patch replaces the whole list, so each patch names the `resourceVersion` that was read. */
import type { Kube } from "../../platform/kube/client.ts";
import type { KubeObject } from "../../platform/kube/objects.ts";
import type { ResourceType } from "../../platform/kube/resource-type.ts";

/** Adds the finalizer if it is missing and returns the object. An object that is being deleted gets no finalizer. */
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

/** Removes the finalizer; Kubernetes then removes a deleted object. */
export const dropFinalizer = async <T extends KubeObject>(
  kind: ResourceType<T>,
  { object, finalizer }: { object: T; finalizer: string },
  kube: Kube,
): Promise<void> => {
  const { finalizers = [], resourceVersion } = object.metadata;
  const metadata = { finalizers: finalizers.filter((other) => other !== finalizer), resourceVersion };
  await kube.patch(kind, object.metadata, { metadata });
};
