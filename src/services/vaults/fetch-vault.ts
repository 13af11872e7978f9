import { createdAt, updatedAt, wireId, wireName } from "../../resources/identity.ts";
import { type Vault, vaultKind } from "../../resources/vault.ts";
import type { VaultRecord } from "../../resources/vault-wire.ts";
import { fetchNamedObject, fetchObjects } from "../objects/fetch-object.ts";
import type { Project } from "../projects/projects.ts";
import type { ServiceDeps } from "../service-deps.ts";

type Deps = Pick<ServiceDeps, "kube">;

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
