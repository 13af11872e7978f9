import { holderOf, liveIn, type ObjectDeps, writeStatus } from "../../../core/reconcile/object-deps.ts";
import { refOf } from "../../../platform/kube/objects.ts";
import { type Vault, vaultKind } from "../vault.ts";
import { connectionOf, credentialSource } from "./rules/item-source.ts";
import { itemStatus } from "./status.ts";
import { type VaultItem, vaultItemKind } from "./vault-item.ts";

const claimOf = ({ spec }: VaultItem): string => `${spec.vault}/${spec.key}`;

/** Asks the API server whether the vault that owns an item is gone: the item may have been created while the vault was deleted. */
const isOrphan = async ({ metadata, spec }: VaultItem, { kube }: ObjectDeps): Promise<boolean> => {
  const owner = metadata.ownerReferences?.find(({ kind }) => kind === vaultKind.kind);
  if (!owner) return false;
  const vault = await kube.get(vaultKind, { ...refOf(`${metadata.namespace}/${spec.vault}`) });
  return vault?.metadata.uid !== owner.uid;
};

/** One round for one item; `key` is `namespace/name`. Safe to repeat at any point. */
export const reconcileItem = async (key: string, deps: ObjectDeps): Promise<undefined> => {
  const { caches, kube, lead } = deps;
  const item = caches.items.get(refOf(key));
  if (!item || item.metadata.deletionTimestamp) return;
  const { namespace, uid } = item.metadata;
  const vaults = liveIn<Vault>(namespace, caches.vaults);
  const hasVault = vaults.some(({ metadata }) => metadata.name === item.spec.vault);
  if (!hasVault && (await isOrphan(item, deps))) {
    lead.check();
    await kube.delete(vaultItemKind, item.metadata, { uid });
    return;
  }
  const connection = connectionOf(item, liveIn(namespace, caches.connections));
  const source = credentialSource(connection, liveIn(namespace, caches.credentials));
  const holder = holderOf(item, liveIn(namespace, caches.items), claimOf) ?? item;
  const status = itemStatus({ item, hasVault, holder, connection, source, nowMs: deps.now() });
  await writeStatus(vaultItemKind, { object: item, status, cache: caches.items }, deps);
};
