import type { Kube } from "../../platform/kube/client.ts";
import { hasReason } from "../../platform/kube/kube-error.ts";
import { keyOf, type Node, type Pod } from "../../platform/kube/objects.ts";
import { pods } from "../../platform/kube/resource-type.ts";
import { whyNotPlaced } from "./placement.ts";
import { isOver } from "./pod-status.ts";

type BinderOptions = {
  kube: Kube;
  nodeName: string;
  maxPods: number;
  /** All pods that the watch shows, with those of this node. */
  listPods: () => Pod[];
  /** This node, from the watch; undefined before the watch shows it. */
  node: () => Node | undefined;
};

export type Binder = {
  /**
   * Binds a pod without a node to this one. Resolves with the reason if it can't, as a scheduler words it, else
   * undefined.
   */
  bind(pod: Pod): Promise<string | undefined>;
};

/** The scheduler of a cluster of one node. It is no failure when another node got the pod, or when the pod is gone. */
export const createBinder = ({ kube, nodeName, maxPods, listPods, node }: BinderOptions): Binder => {
  /** Pods that this node has bound; the watch may still show them without a node. */
  const bound = new Set<string>();

  const isFull = (): boolean => {
    const shown = listPods();
    const unbound = new Set(shown.filter(({ spec }) => !spec?.nodeName).map(({ metadata }) => metadata.uid));
    for (const uid of bound) if (!unbound.has(uid)) bound.delete(uid);
    const here = shown.filter((pod) => pod.spec?.nodeName === nodeName && !isOver(pod));
    return here.length + bound.size >= maxPods;
  };
  return {
    async bind(pod) {
      const { metadata } = pod;
      const { name, uid = keyOf(metadata) } = metadata;
      if (bound.has(uid)) return undefined;
      const self = node();
      const why = isFull() ? "Too many pods" : self && whyNotPlaced(pod, self);
      if (why) return why;
      bound.add(uid);
      const target = { apiVersion: "v1", kind: "Node", name: nodeName };
      const binding = { apiVersion: "v1", kind: "Binding", metadata: { name, uid }, target };
      try {
        await kube.createSubresource(pods, metadata, "binding", binding);
      } catch (error) {
        bound.delete(uid);
        if (!hasReason(error, "Conflict") && !hasReason(error, "NotFound")) throw error;
      }
      return undefined;
    },
  };
};
