import type { KubeObject } from "../../../src/kube/objects.ts";
import type { ResourceType } from "../../../src/kube/resource-type.ts";
import type { Lane } from "../lane.ts";

const networkPolicies: ResourceType<KubeObject> = {
  group: "networking.k8s.io",
  version: "v1",
  kind: "NetworkPolicy",
  plural: "networkpolicies",
  namespaced: true,
};

/** Does `work` while these namespaces have no NetworkPolicy. */
export const withoutPolicies = async (
  { kube }: Lane,
  namespaces: string[],
  work: () => Promise<void>,
): Promise<void> => {
  const lists = await Promise.all(namespaces.map((namespace) => kube.list(networkPolicies, { namespace })));
  const policies = lists.flatMap(({ items }) => items);
  for (const { metadata } of policies)
    await kube.delete(networkPolicies, metadata as { namespace: string; name: string });
  try {
    await work();
  } finally {
    for (const { metadata, ...rest } of policies) {
      const { name, namespace = "", labels = {}, annotations = {} } = metadata;
      await kube.create(networkPolicies, { ...rest, metadata: { name, namespace, labels, annotations } });
    }
  }
};
