import { hasReason } from "../../../src/platform/kube/kube-error.ts";
import type { KubeObject } from "../../../src/platform/kube/objects.ts";
import type { ResourceType } from "../../../src/platform/kube/resource-type.ts";
import type { Lane } from "../lane.ts";

const networkPolicies: ResourceType<KubeObject> = {
  group: "networking.k8s.io",
  version: "v1",
  kind: "NetworkPolicy",
  plural: "networkpolicies",
  namespaced: true,
};

const policiesOf = async ({ kube }: Lane, namespaces: string[]): Promise<KubeObject[]> => {
  const lists = await Promise.all(namespaces.map((namespace) => kube.list(networkPolicies, { namespace })));
  return lists.flatMap(({ items }) => items);
};

const restore = async ({ kube }: Lane, { metadata, ...rest }: KubeObject): Promise<void> => {
  const { name, namespace = "", labels = {}, annotations = {} } = metadata;
  const policy = { ...rest, metadata: { name, namespace, labels, annotations } };
  await kube.create(networkPolicies, policy).catch((error: unknown) => {
    if (!hasReason(error, "AlreadyExists")) throw error;
  });
};

/** Once in ten minutes the operator writes a project's policies: three times in a row is something else. */
const maxTries = 3;

/**
 * Does `work` while these namespaces have no NetworkPolicy, and returns its result. The operator writes those of a
 * project again from time to time: work during which one came back proves nothing and is done again.
 */
export const withoutPolicies = async <T>(
  lane: Lane,
  namespaces: string[],
  work: () => Promise<T>,
  triesLeft = maxTries,
): Promise<T> => {
  const policies = await policiesOf(lane, namespaces);
  for (const { metadata } of policies)
    await lane.kube.delete(networkPolicies, metadata as { namespace: string; name: string });
  let back: KubeObject[] = [];
  const [done] = await Promise.allSettled([work()]);
  try {
    back = await policiesOf(lane, namespaces);
  } finally {
    for (const policy of policies) await restore(lane, policy);
  }
  if (back.length > 0 && triesLeft > 1) return withoutPolicies(lane, namespaces, work, triesLeft - 1);
  if (back.length > 0) throw new Error(`NetworkPolicies came back each time: ${back.map((one) => one.metadata.name)}`);
  if (done.status === "rejected") throw done.reason;
  return done.value;
};
