import type { KeyObject } from "node:crypto";
import type { Project } from "../../../core/projects/projects.ts";
import { commonOrigins } from "../../../platform/addresses/allowed-origins.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { SecretsKeys } from "../../../platform/secrets/sealing.ts";
import type { AuthConnection } from "../connections/auth-connection.ts";
import { type Login, noLogin } from "../connections/rules/change-login.ts";
import { fetchCredentials } from "../credentials/credentials.ts";
import { openWithOrigins } from "../items/open-item.ts";
import { credentialSource } from "../items/rules/item-source.ts";
import { attemptsOf, markOf, mostAttempts } from "./attempts.ts";

/**
 * The stored login of a connection, for use in this process. `isUsable`: false when it was tried in vain too often.
 * `allowedOrigins`: the only ones that it may be typed into; undefined: any that the connection's domains allow.
 */
export type StoredForLogin = { login: Login; mark: string; isUsable: boolean; allowedOrigins: string[] | undefined };

/** Reads the values; they must not be logged, sent in an answer or stored. */
export const openStored = async (
  connection: AuthConnection,
  project: Project,
  deps: { kube: Kube; secretsKeys: SecretsKeys; signingKey: KeyObject },
): Promise<StoredForLogin> => {
  const source = credentialSource(connection, await fetchCredentials(project, deps));
  const own = connection.spec.allowedOrigins;
  const { login, allowedOrigins } =
    source.is === "credential"
      ? await openWithOrigins(source.credential, source.credential.spec.allowedOrigins, deps)
      : { login: noLogin, allowedOrigins: undefined };
  const mark = markOf(login, connection, deps.signingKey);
  const isUsable = attemptsOf(connection, mark) < mostAttempts;
  return { login, mark, isUsable, allowedOrigins: commonOrigins([own, allowedOrigins]) };
};
