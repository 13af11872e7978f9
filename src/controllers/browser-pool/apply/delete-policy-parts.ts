import type { Kube } from "../../../kube/client.ts";
import { configMaps } from "../../../kube/resource-type.ts";
import { type BrowserPool, browserPoolKind } from "../../../resources/browser-pool.ts";
import { policyOwner, policyPartLabel } from "../../../resources/pool-policy.ts";

/**
 * Deletes all ConfigMaps of a pool's policies, those included that an interrupted change has left. Comes before the pool's
 * finalizer is taken off: later, a new pool of the same name could own what is found. Nothing happens if it does already.
 */
export const dropPolicyParts = async ({ metadata }: BrowserPool, kube: Kube): Promise<void> => {
  const current = await kube.get(browserPoolKind, metadata);
  if (current?.metadata.uid !== metadata.uid) return;
  const { items } = await kube.list(configMaps, {
    namespace: metadata.namespace,
    labelSelector: `${policyPartLabel}=${policyOwner(metadata.name)}`,
  });
  await Promise.all(items.map((part) => kube.delete(configMaps, part.metadata, { uid: part.metadata.uid })));
};
