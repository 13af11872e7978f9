import { fetchNamedObject, fetchObjects } from "../../core/objects/fetch-object.ts";
import type { Project } from "../../core/projects/projects.ts";
import { createdAt, updatedAt, wireId, wireName } from "../../platform/kinds/identity.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { type Vault, vaultKind } from "./vault.ts";
import type { VaultRecord } from "./vault-wire.ts";

type Deps = { kube: Kube };

/** Fetches the vaults of a project, oldest first. */
export const fetchVaults = (project: Project, deps: Deps): Promise<Vault[]> => fetchObjects(vaultKind, project, deps);

/** Fetches a vault by id, else by name. Throws `not_found`. */
export const fetchVault = (idOrName: string, project: Project, deps: Deps): Promise<Vault> =>
  fetchNamedObject(vaultKind, { idOrName, project, what: "vault" }, deps);

/** A vault as HTTP answers show it; pure. */
export const vaultAnswer = (vault: Vault): VaultRecord => {
  const name = wireName(vault);
  return {
    id: wireId(vault),
    ...(name !== undefined && { name }),
    created_at: createdAt(vault),
    updated_at: updatedAt(vault),
  };
};
