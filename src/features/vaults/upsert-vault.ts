import { newId } from "../../core/objects/new-id.ts";
import type { Project } from "../../core/projects/projects.ts";
import { itemsFinalizer } from "../../platform/kinds/finalizers.ts";
import { wireName } from "../../platform/kinds/identity.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { Locks } from "../../platform/redis/locks.ts";
import { fetchVaults, vaultAnswer } from "./fetch-vault.ts";
import { vaultKind } from "./vault.ts";
import type { UpsertVault, VaultRecord } from "./vault-wire.ts";

/** Returns the vault with this name, or creates it; requests at the same time get the same vault. */
export const upsertVault = (
  { name }: UpsertVault,
  project: Project,
  deps: { kube: Kube; locks: Locks },
): Promise<VaultRecord> =>
  deps.locks.hold(["vault", project.namespace, name], async () => {
    const known = (await fetchVaults(project, deps)).find((vault) => wireName(vault) === name);
    if (known) return vaultAnswer(known);
    const metadata = { name: newId(), namespace: project.namespace, finalizers: [itemsFinalizer] };
    return vaultAnswer(await deps.kube.create(vaultKind, { metadata, spec: { name } }));
  });
