import type { KubeObject } from "../../platform/kube/objects.ts";

/** Everything of an object that users and the API write. The status is left out: the rounds themselves write it. */
const specOf = ({ metadata }: KubeObject): string => {
  const { generation, deletionTimestamp, labels, annotations, finalizers } = metadata;
  return JSON.stringify([generation, deletionTimestamp, labels, annotations, finalizers]);
};

/**
 * Tells whether anything but the status of an object changed since the last call. The watch also shows the statuses
 * that the operator writes: if each one enqueued its object at once, every round would start the next one.
 */
export const createSpecPredicate = (): {
  specChanged(object: KubeObject): boolean;
  forget(object: KubeObject): void;
} => {
  const known = new Map<string, string>();
  return {
    specChanged(object) {
      const uid = object.metadata.uid;
      const spec = specOf(object);
      const isChanged = known.get(uid) !== spec;
      known.set(uid, spec);
      return isChanged;
    },
    forget: ({ metadata }) => void known.delete(metadata.uid),
  };
};
