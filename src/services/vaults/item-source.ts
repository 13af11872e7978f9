/** What items point at, as it is now: connection, credential, Secret. Read anew for every answer (service.md, States). */
import type { ItemSource } from "../../domain/item-state.ts";
import type { AuthConnection } from "../../resources/auth-connection.ts";
import type { Credential } from "../../resources/credential.ts";
import type { VaultItem } from "../../resources/vault-item.ts";
import { readConnections } from "../connections/find-connection.ts";
import { credentialOfName, readCredentials } from "../credentials/find-credential.ts";
import type { Project } from "../projects.ts";
import { readLoginShape } from "../secrets/stored-login.ts";
import type { ServiceDeps } from "../service-deps.ts";

type Deps = Pick<ServiceDeps, "kube" | "secretsKeys">;

/** The ways to the credential of a connection. */
export type CredentialSource =
  | { is: "connectionGone" }
  | { is: "external" }
  | { is: "noCredential" }
  | { is: "credential"; credential: Credential };

/** Pure. `connection`: undefined when it is gone. */
export const credentialSource = (
  connection: AuthConnection | undefined,
  credentials: Credential[],
): CredentialSource => {
  if (!connection) return { is: "connectionGone" };
  const { credential: linked } = connection.spec;
  if (linked?.provider !== undefined) return { is: "external" };
  const credential = linked?.name === undefined ? undefined : credentialOfName(credentials, linked.name);
  return credential ? { is: "credential", credential } : { is: "noCredential" };
};

/** An item keeps the connection that it was made with: another one of the same name, which YAML can write, is not it. */
const connectionOf = ({ spec, status }: VaultItem, connections: AuthConnection[]): AuthConnection | undefined =>
  connections.find(
    ({ metadata }) =>
      metadata.name === spec.connectionId &&
      (status?.connectionUid === undefined || status.connectionUid === metadata.uid),
  );

/** Where the values of each item are, in the order of the items. */
export const credentialSources = async (
  items: VaultItem[],
  project: Project,
  deps: Deps,
): Promise<CredentialSource[]> => {
  const [connections, credentials] = await Promise.all([
    readConnections(project, deps),
    readCredentials(project, deps),
  ]);
  return items.map((item) => credentialSource(connectionOf(item, connections), credentials));
};

/** With what the credential holds. */
export const withShape = async (source: CredentialSource, deps: Deps): Promise<ItemSource> =>
  source.is === "credential" ? { is: "stored", login: await readLoginShape(source.credential, deps) } : source;

/** What each item points at, in the order of the items. */
export const itemSources = async (items: VaultItem[], project: Project, deps: Deps): Promise<ItemSource[]> =>
  Promise.all((await credentialSources(items, project, deps)).map((source) => withShape(source, deps)));
