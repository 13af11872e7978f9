import { holderOf, liveIn, type ObjectController, type RoundDeps } from "../../../core/reconcile/object-controller.ts";
import { authConnectionKind } from "../connections/auth-connection.ts";
import { credentialKind } from "../credentials/credential.ts";
import { vaultKind } from "../vault.ts";
import { connectionOf, credentialSource } from "./rules/item-source.ts";
import { itemStatus } from "./status.ts";
import { type VaultItem, vaultItemKind } from "./vault-item.ts";

const claimOf = ({ spec }: VaultItem): string => `${spec.vault}/${spec.key}`;

const hasVault = ({ metadata, spec }: VaultItem, deps: RoundDeps): boolean =>
  liveIn(metadata.namespace, vaultKind, deps).some((vault) => vault.metadata.name === spec.vault);

/**
 * Asks the API server whether the vault that owns an item is gone: the item may have been created while the vault was
 * deleted.
 */
const isOrphan = async ({ metadata, spec }: VaultItem, { kube }: RoundDeps): Promise<boolean> => {
  const owner = metadata.ownerReferences?.find(({ kind }) => kind === vaultKind.kind);
  if (!owner) return false;
  const vault = await kube.get(vaultKind, { namespace: metadata.namespace, name: spec.vault });
  return vault?.metadata.uid !== owner.uid;
};

/** Keeps the status of vault items, and deletes those whose vault is gone. */
export const itemController: ObjectController<VaultItem> = {
  name: "items",
  kind: vaultItemKind,
  reads: [vaultItemKind, vaultKind, credentialKind, authConnectionKind],
  async before(item, deps) {
    if (hasVault(item, deps) || !(await isOrphan(item, deps))) return undefined;
    deps.lead.check();
    await deps.kube.delete(vaultItemKind, item.metadata, { uid: item.metadata.uid });
    return {};
  },
  statusOf(item, deps) {
    const { namespace } = item.metadata;
    const connection = connectionOf(item, liveIn(namespace, authConnectionKind, deps));
    const source = credentialSource(connection, liveIn(namespace, credentialKind, deps));
    const holder = holderOf(item, { kind: vaultItemKind, claimOf }, deps);
    return itemStatus({ item, hasVault: hasVault(item, deps), holder, connection, source, nowMs: deps.now() });
  },
};
