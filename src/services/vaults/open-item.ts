import type { Login } from "../../domain/change-login.ts";
import { type ItemState, itemState } from "../../domain/item-state.ts";
import type { VaultItem } from "../../resources/vault-item.ts";
import type { Project } from "../projects.ts";
import { openLogin } from "../secrets/stored-login.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { credentialSources, withShape } from "./item-source.ts";

/** An item as it is at this moment, with the values that go with its fields. */
export type OpenItem =
  | { state: Extract<ItemState, { status: "ready" }>; login: Login }
  | { state: Extract<ItemState, { status: "unavailable" }> };

/** Reads the values of an item for use in this process. Nothing of it may be logged, answered or stored. */
export const openItem = async (
  item: VaultItem,
  project: Project,
  deps: Pick<ServiceDeps, "kube" | "secretsKeys">,
): Promise<OpenItem> => {
  const [source = { is: "connectionGone" as const }] = await credentialSources([item], project, deps);
  const state = itemState(await withShape(source, deps));
  if (state.status === "unavailable") return { state };
  if (source.is !== "credential") throw new Error("an item without a credential is never ready");
  return { state, login: await openLogin(source.credential, deps) };
};
