import { isDeepStrictEqual } from "node:util";
import type { Logger } from "../../../platform/base/log.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { Node } from "../../../platform/kube/objects.ts";
import { startReflector } from "../../../platform/kube/reflector.ts";
import { nodes as nodeType } from "../../../platform/kube/resource-type.ts";
import { nodeState } from "./node-state.ts";
import type { ObservedNode } from "./observed.ts";

/** The states of the cluster's nodes, as they concern browsers. */
export type Nodes = {
  /**
   * By name. Asks the API server for nodes that the watch does not show: a pod may be seen before its new node. Throws
   * when a call fails.
   */
  find(names: Iterable<string>): Promise<Map<string, ObservedNode>>;
  /** Calls `listener` with the name of each node whose state changed. Returns a function that unsubscribes. */
  subscribe(listener: (name: string) => void): () => void;
  /** Resolves when all nodes are known; rejects if `signal` is aborted first. */
  synced(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
};

/** Watches all nodes until `stop`. */
export const startNodes = ({ kube, log }: { kube: Kube; log: Logger }): Nodes => {
  const states = new Map<string, ObservedNode>();
  const listeners = new Set<(name: string) => void>();

  const onNode = (node: Node, change: string): void => {
    const { name } = node.metadata;
    const before = states.get(name);
    const now = nodeState(name, change === "DELETED" ? undefined : node);
    // Kubelets report all the time; few reports change this state.
    if (isDeepStrictEqual(before, now)) return;
    if (now.isGone) states.delete(name);
    else states.set(name, now);
    for (const listener of listeners) listener(name);
  };
  const reflector = startReflector({ kube, type: nodeType, onChange: onNode, log });
  const find = async (name: string): Promise<ObservedNode> =>
    states.get(name) ?? nodeState(name, await kube.get(nodeType, { name }));
  return {
    find: async (names) => {
      const found = await Promise.all([...new Set(names)].map(find));
      return new Map(found.map((node) => [node.name, node]));
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    synced: reflector.synced,
    stop: reflector.stop,
  };
};
