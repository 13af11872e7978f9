/** Finds the credential of an item by its custom resources; the Secret with the values is not read here. */

import { commonOrigins } from "../../../../platform/addresses/allowed-origins.ts";
import { byAge, wireName } from "../../../../platform/kinds/identity.ts";
import type { AuthConnection } from "../../connections/auth-connection.ts";
import type { Credential } from "../../credentials/credential.ts";
import type { VaultItem } from "../vault-item.ts";

export type CredentialSource =
  | { is: "connectionGone" }
  | { is: "external" }
  | { is: "noCredential" }
  | { is: "credential"; credential: Credential };

/** The credential with this name; of two with one name, which YAML can write, the older. */
export const credentialOfName = (credentials: readonly Credential[], name: string): Credential | undefined =>
  credentials.filter((credential) => wireName(credential) === name).sort(byAge)[0];

/**
 * The item's connection. An item keeps its first connection: a later one of the same name, which YAML can write, does
 * not count.
 */
export const connectionOf = (
  { spec, status }: VaultItem,
  connections: readonly AuthConnection[],
): AuthConnection | undefined =>
  connections.find(
    ({ metadata }) =>
      metadata.name === spec.connectionId &&
      (status?.connectionUid === undefined || status.connectionUid === metadata.uid),
  );

/** What limits the origins of an item besides its own list: its connection, and the credential behind that. */
export const originLimits = (
  connection: AuthConnection | undefined,
  source: CredentialSource,
): { of: string; origins: string[] | undefined }[] => [
  ...(source.is === "credential"
    ? [{ of: `credential ${wireName(source.credential)}`, origins: source.credential.spec.allowedOrigins }]
    : []),
  ...(connection ? [{ of: `connection ${connection.metadata.name}`, origins: connection.spec.allowedOrigins }] : []),
];

/** The origins that an item may be filled into: what it has in common with its limits (ITEM-38). Undefined: any. */
export const originsOf = (
  { spec }: Pick<VaultItem, "spec">,
  connection: AuthConnection | undefined,
  source: CredentialSource,
): string[] | undefined =>
  commonOrigins([spec.allowedOrigins, ...originLimits(connection, source).map(({ origins }) => origins)]);

/** Whether an external provider keeps the credential. */
export const isExternal = ({ spec: { credential } }: Pick<AuthConnection, "spec">): boolean =>
  credential?.provider !== undefined || credential?.auto === true;

/** The credential behind a connection. `connection`: undefined when it is gone. `credentials`: all of its project. */
export const credentialSource = (
  connection: AuthConnection | undefined,
  credentials: readonly Credential[],
): CredentialSource => {
  if (!connection) return { is: "connectionGone" };
  const { credential: linked } = connection.spec;
  if (isExternal(connection)) return { is: "external" };
  const credential = linked?.name === undefined ? undefined : credentialOfName(credentials, linked.name);
  return credential ? { is: "credential", credential } : { is: "noCredential" };
};
