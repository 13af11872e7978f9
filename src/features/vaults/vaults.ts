import { fetchNamedObject, fetchObjects } from "../../core/objects/fetch-object.ts";
import { newId } from "../../core/objects/new-id.ts";
import type { Project } from "../../core/projects/projects.ts";
import { createdAt, updatedAt, wireId, wireName } from "../../platform/kinds/identity.ts";
import { itemsFinalizer } from "../../platform/kinds/kind.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { Locks } from "../../platform/redis/locks.ts";
import { type UpsertVault, type Vault, type VaultAnswer, vaultKind } from "./vault.ts";

type Deps = { kube: Kube };

/** Fetches the vaults of a project, oldest first. */
export const fetchVaults = (project: Project, deps: Deps): Promise<Vault[]> => fetchObjects(vaultKind, project, deps);

/** Fetches a vault by id, else by name. Throws `not_found`. */
export const fetchVault = (idOrName: string, project: Project, deps: Deps): Promise<Vault> =>
  fetchNamedObject(vaultKind, { idOrName, project, what: "vault" }, deps);

/** A vault as HTTP answers show it; pure. */
export const vaultAnswer = (vault: Vault): VaultAnswer => {
  const name = wireName(vault);
  return {
    id: wireId(vault),
    ...(name !== undefined && { name }),
    created_at: createdAt(vault),
    updated_at: updatedAt(vault),
  };
};

/** Returns the vault with this name, or creates it; requests at the same time get the same vault. */
export const upsertVault = (
  { name }: UpsertVault,
  project: Project,
  deps: { kube: Kube; locks: Locks },
): Promise<VaultAnswer> =>
  deps.locks.hold(["vault", project.namespace, name], async () => {
    const known = (await fetchVaults(project, deps)).find((vault) => wireName(vault) === name);
    if (known) return vaultAnswer(known);
    const metadata = { name: newId(), namespace: project.namespace, finalizers: [itemsFinalizer] };
    return vaultAnswer(await deps.kube.create(vaultKind, { metadata, spec: { name } }));
  });
