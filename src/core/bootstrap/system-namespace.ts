import type { Kube } from "../../platform/kube/client.ts";
import { hasReason } from "../../platform/kube/kube-error.ts";
import type { Namespace } from "../../platform/kube/objects.ts";
import { namespaces } from "../../platform/kube/resource-type.ts";

/**
 * Creates a namespace if it is missing, and adds missing labels. A label with another value stays: a user has set it.
 * Several replicas may run this at once.
 */
export const ensureNamespace = async (
  kube: Kube,
  name: string,
  labels: Record<string, string> = {},
): Promise<Namespace> => {
  const known = await kube.get(namespaces, { name });
  if (!known) {
    try {
      return await kube.create(namespaces, { metadata: { name, labels } });
    } catch (error) {
      if (!hasReason(error, "AlreadyExists")) throw error;
    }
  }
  const present = (known ?? (await kube.get(namespaces, { name })))?.metadata.labels ?? {};
  const missing = Object.entries(labels).filter(([label]) => present[label] === undefined);
  if (known && missing.length === 0) return known;
  return kube.patch(namespaces, { name }, { metadata: { labels: Object.fromEntries(missing) } });
};
