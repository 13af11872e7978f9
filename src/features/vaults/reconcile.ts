import { dropFinalizer, withFinalizer } from "../../core/reconcile/finalizers.ts";
import { holderOf, liveIn, type ObjectDeps, writeStatus } from "../../core/reconcile/object-deps.ts";
import { itemsFinalizer } from "../../platform/kinds/finalizers.ts";
import { claimedName } from "../../platform/kinds/identity.ts";
import { refOf } from "../../platform/kube/objects.ts";
import type { Requeue } from "../../platform/kube/work-queue.ts";
import { vaultItemKind } from "./items/vault-item.ts";
import { vaultStatus } from "./status.ts";
import { type Vault, vaultKind } from "./vault.ts";

/** Time until the items of a deleted vault are listed again, ms. They vanish at once unless another finalizer keeps them. */
const recheckMs = 1000;

/** Deletes the items of a vault that the API server lists. When there are none, removes the vault's finalizer. */
const drain = async (vault: Vault, { kube, lead }: ObjectDeps): Promise<Requeue | undefined> => {
  const { name, namespace } = vault.metadata;
  const { items } = await kube.list(vaultItemKind, { namespace });
  const own = items.filter(({ spec }) => spec.vault === name);
  lead.check();
  for (const { metadata } of own) await kube.delete(vaultItemKind, metadata, { uid: metadata.uid });
  if (own.length > 0) return { requeueAfterMs: recheckMs };
  await dropFinalizer(vaultKind, { object: vault, finalizer: itemsFinalizer }, kube);
  return undefined;
};

/** One round for one vault; `key` is `namespace/name`. Safe to repeat at any point. */
export const reconcileVault = async (key: string, deps: ObjectDeps): Promise<Requeue | undefined> => {
  const { kube, caches, lead } = deps;
  const known = caches.vaults.get(refOf(key));
  if (!known) return undefined;
  const { deletionTimestamp, finalizers = [], namespace } = known.metadata;
  if (deletionTimestamp) return finalizers.includes(itemsFinalizer) ? drain(known, deps) : undefined;
  lead.check();
  const vault = await withFinalizer(vaultKind, { object: known, finalizer: itemsFinalizer }, kube);
  caches.vaults.put(vault);
  const holder = holderOf(vault, liveIn(namespace, caches.vaults), claimedName) ?? vault;
  const status = vaultStatus(vault, { holder, nowMs: deps.now() });
  await writeStatus(vaultKind, { object: vault, status, cache: caches.vaults }, deps);
  return undefined;
};
