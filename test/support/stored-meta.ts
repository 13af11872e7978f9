import type { NamespacedObject, ObjectMeta } from "../../src/platform/kube/objects.ts";

/** The metadata of a stored object in the namespace `project`, as the API server returns it. */
export const storedMeta = <More extends Partial<ObjectMeta>>(
  name: string,
  more?: More,
): NamespacedObject["metadata"] & More =>
  Object.assign({ name, namespace: "project", uid: `uid-of-${name}`, resourceVersion: "1" }, more);
