import { type ItemState, itemState } from "../../domain/item-state.ts";
import { createdAt, updatedAt, wireId } from "../../resources/identity.ts";
import type { VaultItem } from "../../resources/vault-item.ts";
import { type ItemRecord, ItemSpec } from "../../resources/vault-wire.ts";
import { toWire } from "../../resources/wire.ts";
import type { Project } from "../projects/projects.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { itemSource, listedSources } from "./item-source.ts";

type Deps = Pick<ServiceDeps, "kube" | "secretsKeys">;

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
