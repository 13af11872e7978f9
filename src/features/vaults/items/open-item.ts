import type { Project } from "../../../core/projects/projects.ts";
import { commonOrigins } from "../../../platform/addresses/allowed-origins.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { SecretsKeys } from "../../../platform/secrets/sealing.ts";
import { fetchConnections } from "../connections/connections.ts";
import { type Login, noLogin, shapeOf } from "../connections/rules/change-login.ts";
import { type Credential, credentialKind } from "../credentials/credential.ts";
import { fetchCredentials } from "../credentials/credentials.ts";
import { fetchLoginShape, listedLoginShape, openLogin } from "../logins/stored-login.ts";
import { type CredentialSource, connectionOf, credentialSource, originsOf } from "./rules/item-source.ts";
import { type ItemSource, type ItemState, itemState } from "./rules/item-state.ts";
import type { VaultItem } from "./vault-item.ts";

// The sources of items: connection, credential, Secret. Each answer about an item fetches them anew (ITEM-7).

type Deps = { kube: Kube; secretsKeys: SecretsKeys };

/** The credential of an item, and the origins that it may be filled into; undefined: any. */
type FoundSource = { source: CredentialSource; allowedOrigins: string[] | undefined };

/** The credential and the origins of each item, in the order of the items. */
const findSources = async (items: VaultItem[], project: Project, deps: Deps): Promise<FoundSource[]> => {
  const [connections, credentials] = await Promise.all([
    fetchConnections(project, deps),
    fetchCredentials(project, deps),
  ]);
  return items.map((item) => {
    const connection = connectionOf(item, connections);
    const source = credentialSource(connection, credentials);
    return { source, allowedOrigins: originsOf(item, connection, source) };
  });
};

/** Adds the names of the credential's values. `shapeOf`: how they are found; left out, in its Secret. */
export const withShape = async (
  source: CredentialSource,
  deps: Deps,
  shapeOf: typeof listedLoginShape = fetchLoginShape,
): Promise<ItemSource> =>
  source.is === "credential" ? { is: "stored", login: await shapeOf(source.credential, deps) } : source;

/** The source of an item, for an answer about it alone. */
export const itemSource = async (item: VaultItem, project: Project, deps: Deps): Promise<ItemSource> => {
  const [found] = await findSources([item], project, deps);
  return found ? withShape(found.source, deps) : { is: "connectionGone" };
};

/** The source of each item, in the order of the items, for a list. */
export const listedSources = async (items: VaultItem[], project: Project, deps: Deps): Promise<ItemSource[]> =>
  Promise.all((await findSources(items, project, deps)).map(({ source }) => withShape(source, deps, listedLoginShape)));

/** An item with its values. `allowedOrigins`: the only origins that the values may be filled into; undefined: any. */
export type ReadyItem = {
  state: Extract<ItemState, { status: "ready" }>;
  login: Login;
  allowedOrigins: string[] | undefined;
};

/** The present state of an item, with its values when it is ready. */
type OpenItem = ReadyItem | { state: Extract<ItemState, { status: "unavailable" }> };

/**
 * Opens a login, and then reads the credential's origins once more. A change of both may be under way: it narrows the
 * origins before it writes the values and widens them after. So what the two reads have in common is right for the
 * values in between.
 */
export const openWithOrigins = async (
  credential: Credential,
  before: string[] | undefined,
  deps: Deps,
): Promise<{ login: Login; allowedOrigins: string[] | undefined }> => {
  const login = await openLogin(credential, deps);
  const now = await deps.kube.get(credentialKind, credential.metadata);
  if (now?.metadata.uid !== credential.metadata.uid) return { login: noLogin, allowedOrigins: [] };
  return { login, allowedOrigins: commonOrigins([before, now.spec.allowedOrigins]) };
};

/** Reads the values of an item for use in this process. They must not be logged, sent in an answer or stored. */
export const openItem = async (item: VaultItem, project: Project, deps: Deps): Promise<OpenItem> => {
  const [found] = await findSources([item], project, deps);
  const { source, allowedOrigins: before } = found ?? { source: { is: "connectionGone" as const }, allowedOrigins: [] };
  const { login, allowedOrigins } =
    source.is === "credential"
      ? await openWithOrigins(source.credential, before, deps)
      : { login: noLogin, allowedOrigins: before };
  const state = itemState(source.is === "credential" ? { is: "stored", login: shapeOf(login) } : source);
  return state.status === "unavailable" ? { state } : { state, login, allowedOrigins };
};
