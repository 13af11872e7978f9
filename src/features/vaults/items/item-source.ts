/** The sources of items: connection, credential, Secret. Each answer about an item fetches them anew (ITEM-7). */

import type { Project } from "../../../core/projects/projects.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { SecretsKeys } from "../../../platform/secrets/secrets-key.ts";
import { fetchConnections } from "../connections/fetch-connection.ts";
import { fetchCredentials } from "../credentials/fetch-credential.ts";
import { fetchLoginShape, listedLoginShape } from "../logins/stored-login.ts";
import { type CredentialSource, connectionOf, credentialSource, originsOf } from "./rules/item-source.ts";
import type { ItemSource } from "./rules/item-state.ts";
import type { VaultItem } from "./vault-item.ts";

type Deps = { kube: Kube; secretsKeys: SecretsKeys };

/** The credential of an item, and the origins that it may be filled into; undefined: any. */
type FoundSource = { source: CredentialSource; allowedOrigins: string[] | undefined };

/** The credential and the origins of each item, in the order of the items. */
export const findSources = async (items: VaultItem[], project: Project, deps: Deps): Promise<FoundSource[]> => {
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
