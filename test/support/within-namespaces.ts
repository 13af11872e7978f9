import type { Kube } from "../../src/kube/client.ts";

/**
 * A client that lists and watches objects of these namespaces only. Tests share an API server: controllers of one test must not
 * settle what belongs to another one's, whose store of blobs they don't have.
 */
export const withinNamespaces = (kube: Kube, namespaces: readonly string[]): Kube => {
  const isOurs = ({ metadata }: { metadata: { namespace?: string } }): boolean =>
    metadata.namespace === undefined || namespaces.includes(metadata.namespace);
  return {
    ...kube,
    async list(type, selection) {
      const all = await kube.list(type, selection);
      return { ...all, items: all.items.filter(isOurs) };
    },
    async *watch(type, options, signal) {
      for await (const event of kube.watch(type, options, signal))
        if (event.type === "BOOKMARK" || isOurs(event.object)) yield event;
    },
  };
};
