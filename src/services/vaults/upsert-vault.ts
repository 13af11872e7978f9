import { itemsFinalizer } from "../../resources/finalizers.ts";
import { wireName } from "../../resources/identity.ts";
import { vaultKind } from "../../resources/vault.ts";
import type { UpsertVault, VaultRecord } from "../../resources/vault-wire.ts";
import { newId } from "../objects/new-id.ts";
import type { Project } from "../projects/projects.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { fetchVaults, vaultAnswer } from "./fetch-vault.ts";

/** Returns the vault with this name, or creates it; requests at the same time get the same vault. */
export const upsertVault = (
  { name }: UpsertVault,
  project: Project,
  deps: Pick<ServiceDeps, "kube" | "locks">,
): Promise<VaultRecord> =>
  deps.locks.hold(["vault", project.namespace, name], async () => {
    const known = (await fetchVaults(project, deps)).find((vault) => wireName(vault) === name);
    if (known) return vaultAnswer(known);
    const metadata = { name: newId(), namespace: project.namespace, finalizers: [itemsFinalizer] };
    return vaultAnswer(await deps.kube.create(vaultKind, { metadata, spec: { name } }));
  });
