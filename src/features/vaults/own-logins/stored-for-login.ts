import type { KeyObject } from "node:crypto";
import type { Project } from "../../../core/projects/projects.ts";
import { commonOrigins } from "../../../platform/addresses/allowed-origins.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { SecretsKeys } from "../../../platform/secrets/sealing.ts";
import type { AuthConnection } from "../connections/auth-connection.ts";
import { type Login, noLogin } from "../connections/rules/change-login.ts";
import { fetchCredentials } from "../credentials/credentials.ts";
import { openWithOrigins } from "../items/open-item.ts";
import { type CredentialSource, credentialSource } from "../items/rules/item-source.ts";
import type { ProviderLookups } from "../providers/lookups.ts";
import { ProviderFailed, type ProviderProblem } from "../providers/store.ts";
import { attemptsOf, markOf, mostAttempts } from "./attempts.ts";

/**
 * The stored login of a connection, for use in this process. `isUsable`: false when it was tried in vain too often.
 * `allowedOrigins`: the only ones that it may be typed into; undefined: any that the connection's domains allow.
 */
export type StoredForLogin = {
  login: Login;
  mark: string;
  isUsable: boolean;
  allowedOrigins: string[] | undefined;
  /** The provider of single sign-on that it is for. */
  ssoProvider: string | undefined;
  /** Why a credential provider gave no login. */
  problem?: { code: ProviderProblem; message: string };
};

type Deps = { kube: Kube; providerLookups: ProviderLookups; secretsKeys: SecretsKeys; signingKey: KeyObject };

type Opened = Pick<StoredForLogin, "login" | "allowedOrigins" | "problem">;

const openExternal = async (connection: AuthConnection, project: Project, deps: Deps): Promise<Opened> => {
  try {
    return await deps.providerLookups.open(connection, project);
  } catch (error) {
    if (!(error instanceof ProviderFailed)) throw error;
    return { login: noLogin, allowedOrigins: [], problem: { code: error.code, message: error.message } };
  }
};

const openSource = async (
  source: CredentialSource,
  { connection, project }: { connection: AuthConnection; project: Project },
  deps: Deps,
): Promise<Opened> => {
  if (source.is === "external") return openExternal(connection, project, deps);
  if (source.is !== "credential") return { login: noLogin, allowedOrigins: undefined };
  return openWithOrigins(source.credential, source.credential.spec.allowedOrigins, deps);
};

/** Reads the values; they must not be logged, sent in an answer or stored. */
export const openStored = async (connection: AuthConnection, project: Project, deps: Deps): Promise<StoredForLogin> => {
  const source = credentialSource(connection, await fetchCredentials(project, deps));
  const own = connection.spec.allowedOrigins;
  const { login, allowedOrigins, problem } = await openSource(source, { connection, project }, deps);
  const mark = markOf(login, connection, deps.signingKey);
  const isUsable = attemptsOf(connection, mark) < mostAttempts;
  const ssoProvider = source.is === "credential" ? source.credential.spec.ssoProvider : undefined;
  return {
    login,
    mark,
    isUsable,
    allowedOrigins: commonOrigins([own, allowedOrigins]),
    ssoProvider,
    ...(problem && { problem }),
  };
};
