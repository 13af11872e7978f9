import type { ApiKeys, Principal } from "../../../core/api-keys/api-keys.ts";
import type { Project } from "../../../core/projects/projects.ts";
import type { Logger } from "../../../platform/base/log.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import { fetchItem, type ItemPath } from "./fetch-item.ts";
import { noteItemEvent } from "./item-event.ts";
import type { ItemEvents } from "./item-events.ts";
import { type VaultItem, vaultItemKind } from "./vault-item.ts";

type Deps = { apiKeys: ApiKeys; itemEvents: ItemEvents; kube: Kube; log: Logger };

/** Deletes exactly this item (by uid); its connection and credential stay. */
export const removeItem = async (item: VaultItem, principal: Principal, deps: Deps): Promise<void> => {
  const { metadata } = item;
  await deps.kube.delete(vaultItemKind, metadata, { uid: metadata.uid });
  await noteItemEvent(item, { type: "deleted", principal }, deps);
};

/** Deletes the item with this key. Throws `not_found`. */
export const deleteItem = async (
  path: ItemPath,
  { project, principal }: { project: Project; principal: Principal },
  deps: Deps,
): Promise<void> => {
  const { item } = await fetchItem(path, project, deps);
  await removeItem(item, principal, deps);
};
