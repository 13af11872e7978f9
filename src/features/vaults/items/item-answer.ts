import type { Project } from "../../../core/projects/projects.ts";
import { createdAt, updatedAt, wireId } from "../../../platform/kinds/identity.ts";
import { toWire } from "../../../platform/kinds/wire.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { SecretsKeys } from "../../../platform/secrets/secrets-key.ts";
import { type ItemRecord, ItemSpec } from "../vault-wire.ts";
import { itemSource, listedSources } from "./item-source.ts";
import { type ItemState, itemState } from "./rules/item-state.ts";
import type { VaultItem } from "./vault-item.ts";

type Deps = { kube: Kube; secretsKeys: SecretsKeys };

const fill = {
  type: "fill" as const,
  description:
    "Writes stored values into fields of an open page. Does not look for fields, navigate, submit, or check the login.",
};

const stateWire = (state: ItemState, withFields: boolean): ItemRecord["state"] => ({
  provider: "managed_auth",
  status: state.status,
  ...(state.status === "unavailable" && { status_reason: state.reason }),
  ...(withFields && { fields: state.status === "ready" ? state.fields : {} }),
});

const record = (item: VaultItem, state: ItemState, withFields: boolean): ItemRecord => {
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
export const itemAnswers = async (items: VaultItem[], project: Project, deps: Deps): Promise<ItemRecord[]> => {
  const sources = await listedSources(items, project, deps);
  return items.flatMap((item, index) => {
    const source = sources[index];
    return source ? [record(item, itemState(source), false)] : [];
  });
};

/** One item with its fields. */
export const itemAnswer = async (item: VaultItem, project: Project, deps: Deps): Promise<ItemRecord> => {
  return record(item, itemState(await itemSource(item, project, deps)), true);
};
