import type { ApiKeys, Principal } from "../../core/api-keys/api-keys.ts";
import type { Project } from "../../core/projects/projects.ts";
import type { Logger } from "../../platform/base/log.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { ItemEvents } from "./items/item-events.ts";
import { fetchItems, removeItem } from "./items/items.ts";
import { vaultKind } from "./vault.ts";
import { fetchVault } from "./vaults.ts";

/** Deletes a vault with its items; the operator deletes items that are created at this moment. Throws `not_found`. */
export const deleteVault = async (
  idOrName: string,
  { project, principal }: { project: Project; principal: Principal },
  deps: { apiKeys: ApiKeys; itemEvents: ItemEvents; kube: Kube; log: Logger },
): Promise<void> => {
  const vault = await fetchVault(idOrName, project, deps);
  const { uid } = vault.metadata;
  await deps.kube.delete(vaultKind, vault.metadata, { uid });
  for (const item of await fetchItems(vault, project, deps)) await removeItem(item, principal, deps);
};
