import { holderOf, type ObjectController } from "../../core/reconcile/object-controller.ts";
import { claimedName } from "../../platform/kinds/identity.ts";
import { itemsFinalizer } from "../../platform/kinds/kind.ts";
import { secrets } from "../../platform/kube/resource-type.ts";
import { vaultKeySecret } from "./encryption/vault-key.ts";
import { vaultItemKind } from "./items/vault-item.ts";
import { vaultStatus } from "./status.ts";
import { type Vault, vaultKind } from "./vault.ts";

/**
 * Time until the items of a deleted vault are listed again, ms. They vanish at once unless another finalizer keeps
 * them.
 */
const recheckMs = 1000;

/** Keeps the status of vaults. One that is deleted takes its items and its key along. */
export const vaultController: ObjectController<Vault> = {
  name: "vaults",
  kind: vaultKind,
  reads: [vaultKind, vaultItemKind],
  finalizer: itemsFinalizer,
  /** Deletes the items that the API server lists. */
  async release({ metadata: { name, namespace, uid } }, { kube, lead }) {
    const { items } = await kube.list(vaultItemKind, { namespace });
    const own = items.filter(({ spec }) => spec.vault === name);
    lead.check();
    for (const { metadata } of own) await kube.delete(vaultItemKind, metadata, { uid: metadata.uid });
    await kube.delete(secrets, { name: vaultKeySecret(uid), namespace });
    return own.length > 0 ? { requeueAfterMs: recheckMs } : undefined;
  },
  statusOf(vault, deps) {
    const holder = holderOf(vault, { kind: vaultKind, claimOf: claimedName }, deps);
    return vaultStatus(vault, { holder, nowMs: deps.now() });
  },
};
