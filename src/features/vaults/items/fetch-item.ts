import { fetchObjects } from "../../../core/objects/fetch-object.ts";
import type { Project } from "../../../core/projects/projects.ts";
import { AppError } from "../../../platform/base/errors.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import { fetchVault } from "../fetch-vault.ts";
import type { Vault } from "../vault.ts";
import { type VaultItem, vaultItemKind } from "./vault-item.ts";

type Deps = { kube: Kube };

/** Fetches the items of a vault, oldest first; of two with one key, which YAML can write, only the older. */
export const fetchItems = async ({ metadata }: Vault, project: Project, deps: Deps): Promise<VaultItem[]> => {
  const items = await fetchObjects(vaultItemKind, project, deps);
  const byKey = new Map<string, VaultItem>();
  for (const item of items)
    if (item.spec.vault === metadata.name && !byKey.has(item.spec.key)) byKey.set(item.spec.key, item);
  return [...byKey.values()];
};

/** The vault (id or name) and key in an item's URL path. */
export type ItemPath = { vault: string; key: string };

/** Fetches an item with its vault. Throws `not_found`. */
export const fetchItem = async (
  { vault: idOrName, key }: ItemPath,
  project: Project,
  deps: Deps,
): Promise<{ vault: Vault; item: VaultItem }> => {
  const vault = await fetchVault(idOrName, project, deps);
  const item = (await fetchItems(vault, project, deps)).find(({ spec }) => spec.key === key);
  if (!item) throw new AppError("not_found", `no item ${key} in vault ${idOrName}`);
  return { vault, item };
};
