import { itemsFinalizer } from "../../resources/finalizers.ts";
import { wireName } from "../../resources/identity.ts";
import { vaultKind } from "../../resources/vault.ts";
import type { UpsertVault, VaultRecord } from "../../resources/vault-wire.ts";
import { newId } from "../objects/new-id.ts";
import type { Project } from "../projects/projects.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { fetchVaults, vaultAnswer } from "./fetch-vault.ts";

/** The vault of this name, which is made when there is none; requests at once get the same one. */
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
