import type { Kube } from "../../platform/kube/client.ts";
import { configMaps } from "../../platform/kube/resource-type.ts";
import { type BrowserPool, browserPoolKind } from "../model/pools/browser-pool.ts";
import { policyOwner, policyPartLabel } from "../model/settings/pool-policy.ts";

/**
 * Deletes all ConfigMaps of a pool's policies, with those that an interrupted change has left behind. Runs before the pool's
 * finalizer is removed: after that, they could belong to a new pool of the same name. Does nothing if the pool is already gone.
 */
export const deletePolicyParts = async ({ metadata }: BrowserPool, kube: Kube): Promise<void> => {
  const current = await kube.get(browserPoolKind, metadata);
  if (current?.metadata.uid !== metadata.uid) return;
  const { items } = await kube.list(configMaps, {
    namespace: metadata.namespace,
    labelSelector: `${policyPartLabel}=${policyOwner(metadata.name)}`,
  });
  await Promise.all(items.map((part) => kube.delete(configMaps, part.metadata, { uid: part.metadata.uid })));
};
