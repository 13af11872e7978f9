import { vaultKind } from "../../resources/vault.ts";
import type { Principal } from "../api-keys/api-keys.ts";
import type { Project } from "../projects/projects.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { removeItem } from "./delete-item.ts";
import { fetchItems } from "./fetch-item.ts";
import { fetchVault } from "./fetch-vault.ts";

/** Deletes a vault with its items; the operator deletes items that are created at this moment. Throws `not_found`. */
export const deleteVault = async (
  idOrName: string,
  { project, principal }: { project: Project; principal: Principal },
  deps: Pick<ServiceDeps, "kube" | "apiKeys" | "itemEvents" | "log">,
): Promise<void> => {
  const vault = await fetchVault(idOrName, project, deps);
  const { uid } = vault.metadata;
  await deps.kube.delete(vaultKind, vault.metadata, { uid });
  for (const item of await fetchItems(vault, project, deps)) await removeItem(item, principal, deps);
};
