import type { KubeObject } from "../kube/objects.ts";

/** All that people and the API can ask for in an object: everything but its status, which the rounds themselves write. */
const wishOf = ({ metadata }: KubeObject): string => {
  const { generation, deletionTimestamp, labels, annotations, finalizers } = metadata;
  return JSON.stringify([generation, deletionTimestamp, labels, annotations, finalizers]);
};

/**
 * Tells whether more of an object changed than its status since it was last asked. A status that was written comes back by
 * the watch: acted upon at once, every round would bring about the next one.
 */
export const createNews = (): { isNews(object: KubeObject): boolean; forget(object: KubeObject): void } => {
  const wishes = new Map<string, string>();
  return {
    isNews(object) {
      const uid = object.metadata.uid ?? "";
      const wish = wishOf(object);
      const isNews = wishes.get(uid) !== wish;
      wishes.set(uid, wish);
      return isNews;
    },
    forget: ({ metadata }) => void wishes.delete(metadata.uid ?? ""),
  };
};
