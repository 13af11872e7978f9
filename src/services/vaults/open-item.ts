import { type Login, noLogin, shapeOf } from "../../domain/change-login.ts";
import { type ItemState, itemState } from "../../domain/item-state.ts";
import type { VaultItem } from "../../resources/vault-item.ts";
import type { Project } from "../projects/projects.ts";
import { openLogin } from "../secrets/stored-login.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { credentialSources } from "./item-source.ts";

/** The present state of an item, with its values when it is ready. */
export type OpenItem =
  | { state: Extract<ItemState, { status: "ready" }>; login: Login }
  | { state: Extract<ItemState, { status: "unavailable" }> };

/** Reads the values of an item for use in this process. They must not be logged, sent in an answer or stored. */
export const openItem = async (
  item: VaultItem,
  project: Project,
  deps: Pick<ServiceDeps, "kube" | "secretsKeys">,
): Promise<OpenItem> => {
  const [source = { is: "connectionGone" as const }] = await credentialSources([item], project, deps);
  const login = source.is === "credential" ? await openLogin(source.credential, deps) : noLogin;
  const state = itemState(source.is === "credential" ? { is: "stored", login: shapeOf(login) } : source);
  return state.status === "unavailable" ? { state } : { state, login };
};
