import type { Kube } from "../../src/platform/kube/client.ts";

/** The kinds whose contents are in a store of blobs. */
const withBlobs: readonly string[] = ["profiles", "extensions"];

/**
 * A client that lists and watches objects with blobs in these namespaces only. Tests share an API server: controllers
 * of one test must not settle what belongs to another one's, whose store of blobs they don't have.
 */
export const withinNamespaces = (kube: Kube, namespaces: readonly string[]): Kube => {
  const isOurs = (plural: string, { metadata }: { metadata: { namespace?: string } }): boolean =>
    !withBlobs.includes(plural) || namespaces.includes(metadata.namespace ?? "");
  return {
    ...kube,
    async list(type, selection) {
      const all = await kube.list(type, selection);
      return { ...all, items: all.items.filter((one) => isOurs(type.plural, one)) };
    },
    async *watch(type, options, signal) {
      for await (const event of kube.watch(type, options, signal))
        if (event.type === "BOOKMARK" || isOurs(type.plural, event.object)) yield event;
    },
  };
};
