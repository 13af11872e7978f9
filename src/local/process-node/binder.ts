import type { Kube } from "../../kube/client.ts";
import { hasReason } from "../../kube/kube-error.ts";
import { keyOf, type Node, type Pod } from "../../kube/objects.ts";
import { pods } from "../../kube/resource-type.ts";
import { whyNotPlaced } from "./placement.ts";
import { isOver } from "./pod-status.ts";

export type BinderOptions = {
  kube: Kube;
  nodeName: string;
  maxPods: number;
  /** All pods as the watch shows them, this node's among them. */
  listPods: () => Pod[];
  /** This node as the watch shows it; undefined before it does. */
  node: () => Node | undefined;
};

export type Binder = {
  /** Binds a pod that has no node to this one; resolves with why not, in a scheduler's words, or undefined. */
  bind(pod: Pod): Promise<string | undefined>;
};

/** The scheduler of a cluster of one node. A pod that another node got, or that is gone, is no failure. */
export const createBinder = ({ kube, nodeName, maxPods, listPods, node }: BinderOptions): Binder => {
  /** Bound by this node, while the watch may still show them without one. */
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
