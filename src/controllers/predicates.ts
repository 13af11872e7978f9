import type { KubeObject } from "../kube/objects.ts";

/** All that people and the API can ask for in an object: everything but its status, which the rounds themselves write. */
const specOf = ({ metadata }: KubeObject): string => {
  const { generation, deletionTimestamp, labels, annotations, finalizers } = metadata;
  return JSON.stringify([generation, deletionTimestamp, labels, annotations, finalizers]);
};

/**
 * Tells whether more of an object changed than its status since it was last asked. A status that was written comes back by
 * the watch: acted upon at once, every round would bring about the next one.
 */
export const createSpecPredicate = (): {
  specChanged(object: KubeObject): boolean;
  forget(object: KubeObject): void;
} => {
  const known = new Map<string, string>();
  return {
    specChanged(object) {
      const uid = object.metadata.uid;
      const wish = specOf(object);
      const isChanged = known.get(uid) !== wish;
      known.set(uid, wish);
      return isChanged;
    },
    forget: ({ metadata }) => void known.delete(metadata.uid),
  };
};
