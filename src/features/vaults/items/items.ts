import type { ApiKeys, Principal } from "../../../core/api-keys/api-keys.ts";
import { fetchObjects } from "../../../core/objects/fetch-object.ts";
import type { Project } from "../../../core/projects/projects.ts";
import { AppError } from "../../../platform/base/errors.ts";
import type { Logger } from "../../../platform/base/log.ts";
import { createdAt, updatedAt, wireId } from "../../../platform/kinds/identity.ts";
import { toWire } from "../../../platform/kinds/wire.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { SecretsKeys } from "../../../platform/secrets/sealing.ts";
import { type ItemAnswer, ItemSpec, type Vault } from "../vault.ts";
import { fetchVault } from "../vaults.ts";
import { type EventsQuery, type ItemEvents, noteItemEvent, type StoredItemEvent } from "./item-events.ts";
import { itemSource, listedSources } from "./open-item.ts";
import { type ItemState, itemState } from "./rules/item-state.ts";
import { type VaultItem, vaultItemKind } from "./vault-item.ts";

/** Fetches the items of a vault, oldest first; of two with one key, which YAML can write, only the older. */
export const fetchItems = async ({ metadata }: Vault, project: Project, deps: { kube: Kube }): Promise<VaultItem[]> => {
  const items = await fetchObjects(vaultItemKind, project, deps);
  const byKey = new Map<string, VaultItem>();
  for (const item of items)
    if (item.spec.vault === metadata.name && !byKey.has(item.spec.key)) byKey.set(item.spec.key, item);
  return [...byKey.values()];
};

/** The vault (id or name) and key in an item's URL path. */
export type ItemPath = { vault: string; key: string };

/** Fetches an item with its vault. Throws `not_found`. */
export const fetchItem = async (
  { vault: idOrName, key }: ItemPath,
  project: Project,
  deps: { kube: Kube },
): Promise<{ vault: Vault; item: VaultItem }> => {
  const vault = await fetchVault(idOrName, project, deps);
  const item = (await fetchItems(vault, project, deps)).find(({ spec }) => spec.key === key);
  if (!item) throw new AppError("not_found", `no item ${key} in vault ${idOrName}`);
  return { vault, item };
};

type AnswerDeps = { kube: Kube; secretsKeys: SecretsKeys };

const fill = {
  type: "fill" as const,
  description:
    "Writes stored values into fields of an open page. Does not look for fields, navigate, submit, or check the login.",
};

const stateWire = (state: ItemState, withFields: boolean): ItemAnswer["state"] => ({
  provider: "managed_auth",
  status: state.status,
  ...(state.status === "unavailable" && { status_reason: state.reason }),
  ...(withFields && { fields: state.status === "ready" ? state.fields : {} }),
});

const record = (item: VaultItem, state: ItemState, withFields: boolean): ItemAnswer => {
  const { key, type } = item.spec;
  return {
    id: wireId(item),
    key,
    type,
    version: 1,
    spec: toWire(ItemSpec, item.spec),
    state: stateWire(state, withFields),
    available_operations: state.status === "ready" ? [fill] : [],
    available_expansions: [],
    created_at: createdAt(item),
    updated_at: updatedAt(item),
  };
};

/** Items as HTTP lists show them: without their fields. */
export const itemAnswers = async (items: VaultItem[], project: Project, deps: AnswerDeps): Promise<ItemAnswer[]> => {
  const sources = await listedSources(items, project, deps);
  return items.flatMap((item, index) => {
    const source = sources[index];
    return source ? [record(item, itemState(source), false)] : [];
  });
};

/** One item with its fields. */
export const itemAnswer = async (item: VaultItem, project: Project, deps: AnswerDeps): Promise<ItemAnswer> => {
  return record(item, itemState(await itemSource(item, project, deps)), true);
};

type DeleteDeps = { apiKeys: ApiKeys; itemEvents: ItemEvents; kube: Kube; log: Logger };

/** Deletes exactly this item (by uid); its connection and credential stay. */
export const removeItem = async (item: VaultItem, principal: Principal, deps: DeleteDeps): Promise<void> => {
  const { metadata } = item;
  await deps.kube.delete(vaultItemKind, metadata, { uid: metadata.uid });
  await noteItemEvent(item, { type: "deleted", principal }, deps);
};

/** Deletes the item with this key. Throws `not_found`. */
export const deleteItem = async (
  path: ItemPath,
  { project, principal }: { project: Project; principal: Principal },
  deps: DeleteDeps,
): Promise<void> => {
  const { item } = await fetchItem(path, project, deps);
  await removeItem(item, principal, deps);
};

/** The events of an item, oldest first; waits for the first event when there is none. Throws `not_found`. */
export const readItemEvents = async (
  path: ItemPath,
  { project, query, signal }: { project: Project; query: EventsQuery; signal: AbortSignal },
  deps: { itemEvents: ItemEvents; kube: Kube },
): Promise<StoredItemEvent[]> => {
  const { item } = await fetchItem(path, project, deps);
  return deps.itemEvents.read(item.metadata.uid, query, signal);
};
