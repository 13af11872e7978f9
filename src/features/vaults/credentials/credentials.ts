import { fetchNamedObject, fetchObjects } from "../../../core/objects/fetch-object.ts";
import { newId } from "../../../core/objects/new-id.ts";
import { withFreeName } from "../../../core/objects/with-free-name.ts";
import type { Project } from "../../../core/projects/projects.ts";
import { originProblems } from "../../../platform/addresses/allowed-origins.ts";
import { AppError, invalidInput } from "../../../platform/base/errors.ts";
import type { Sensitive } from "../../../platform/base/sensitive.ts";
import { createdAt, updatedAt, wireId, wireName } from "../../../platform/kinds/identity.ts";
import { secretFinalizer } from "../../../platform/kinds/kind.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { NewObject } from "../../../platform/kube/objects.ts";
import type { Locks } from "../../../platform/redis/locks.ts";
import { looksSealed, type SecretsKeys } from "../../../platform/secrets/sealing.ts";
import { changedLogin, type Login, noLogin, shapeOf } from "../connections/rules/change-login.ts";
import { withOpenedValues } from "../encryption/vault-key.ts";
import { type TotpCode, totpCode } from "../logins/rules/totp.ts";
import { changeLogin, fetchLoginShape, listedLoginShape, openLogin } from "../logins/stored-login.ts";
import {
  type CreateCredential,
  type Credential,
  type CredentialAnswer,
  credentialKind,
  ownSecretName,
} from "./credential.ts";

/** Fetches the credentials of a project, oldest first. */
export const fetchCredentials = (project: Pick<Project, "namespace">, deps: { kube: Kube }): Promise<Credential[]> =>
  fetchObjects(credentialKind, project, deps);

/** Fetches a credential by id, else by name. Throws `not_found`. */
export const fetchCredential = (idOrName: string, project: Project, deps: { kube: Kube }): Promise<Credential> =>
  fetchNamedObject(credentialKind, { idOrName, project, what: "credential" }, deps);

type AnswerDeps = { kube: Kube; secretsKeys: SecretsKeys };

type Shape = Awaited<ReturnType<typeof listedLoginShape>>;

const record = (credential: Credential, { valueNames, hasTotp, hasUnusableTotp }: Shape): CredentialAnswer => ({
  id: wireId(credential),
  name: wireName(credential) ?? wireId(credential),
  domain: credential.spec.domain,
  has_values: valueNames.length > 0,
  has_totp_secret: hasTotp,
  ...(hasUnusableTotp && { totp_secret_problem: "not_base32" as const }),
  sso_provider: credential.spec.ssoProvider ?? null,
  ...(credential.spec.allowedOrigins && { allowed_origins: credential.spec.allowedOrigins }),
  created_at: createdAt(credential),
  updated_at: updatedAt(credential),
});

/** A credential as HTTP lists show it: without the names of its values. */
export const listedCredential = async (credential: Credential, deps: AnswerDeps): Promise<CredentialAnswer> =>
  record(credential, await listedLoginShape(credential, deps));

/**
 * A credential as HTTP answers show it; reads the names of its values from its Secret. `newTotpSecret`: the secret that
 * the request has just stored.
 */
export const credentialAnswer = async (
  credential: Credential,
  deps: AnswerDeps,
  newTotpSecret?: Sensitive,
): Promise<CredentialAnswer> => {
  const shape = await fetchLoginShape(credential, deps);
  const code = newTotpSecret && totpCode(newTotpSecret.reveal(), Date.now());
  return {
    ...record(credential, shape),
    value_keys: shape.names,
    ...(code && { totp_code: code.code, totp_code_expires_at: new Date(code.expiresAtMs).toISOString() }),
  };
};

/** Throws `bad_request` for an origin that is not written as browsers write it. */
export const requireOrigins = ({ allowed_origins }: { allowed_origins?: string[] | null | undefined }): void => {
  const details = originProblems(allowed_origins ?? undefined, "allowed_origins");
  if (details.length > 0) throw invalidInput(details);
};

type CredentialQuery = {
  /** Exact. */
  name?: string | undefined;
  /** Exact. */
  domain?: string | undefined;
  /** Part of the name or the domain, case-insensitive, or the exact id. */
  query?: string | undefined;
};

const isWanted = (credential: Credential, { name, domain, query }: CredentialQuery): boolean => {
  const ownName = wireName(credential) ?? "";
  const ownDomain = credential.spec.domain;
  if (name !== undefined && name !== ownName) return false;
  if (domain !== undefined && domain.toLowerCase() !== ownDomain.toLowerCase()) return false;
  const part = query?.toLowerCase() ?? "";
  return `${ownName}\n${ownDomain}`.toLowerCase().includes(part) || credential.metadata.name === query;
};

/** The credentials that match the query, oldest first. */
export const listCredentials = async (
  query: CredentialQuery,
  project: Project,
  deps: { kube: Kube },
): Promise<Credential[]> => (await fetchCredentials(project, deps)).filter((credential) => isWanted(credential, query));

type CreateDeps = { kube: Kube; locks: Locks; secretsKeys: SecretsKeys };

const newCredential = (
  { name, domain, sso_provider, allowed_origins }: CreateCredential,
  login: Login,
  project: Project,
): NewObject<Credential> => {
  const id = newId();
  const { valueNames, hasTotp } = shapeOf(login);
  return {
    metadata: { name: id, namespace: project.namespace, finalizers: [secretFinalizer] },
    spec: {
      name,
      domain: domain.toLowerCase(),
      secretRef: { name: ownSecretName(id) },
      valueKeys: [...valueNames],
      totp: hasTotp,
      ...(sso_provider && { ssoProvider: sso_provider }),
      ...(allowed_origins && { allowedOrigins: allowed_origins }),
    },
  };
};

/** Creates the object first, since it owns the Secret. When the values can't be stored, it deletes the object again. */
const store = async (credential: NewObject<Credential>, login: Login, deps: CreateDeps): Promise<Credential> => {
  const created = await deps.kube.create(credentialKind, credential);
  try {
    await changeLogin(created, () => login, deps);
  } catch (error) {
    await deps.kube.delete(credentialKind, created.metadata).catch(() => undefined);
    throw error;
  }
  return created;
};

/** Stores a login. Throws `bad_request` and `name_taken`. */
export const storeCredential = async (
  request: CreateCredential,
  project: Project,
  deps: CreateDeps,
): Promise<{ credential: Credential; login: Login }> => {
  requireOrigins(request);
  const change = { values: request.values, totpSecret: request.totp_secret };
  const login = changedLogin(noLogin, change, (value) => !looksSealed(value));
  const credential = await withFreeName(credentialKind, { name: request.name, what: "credential", project }, deps, () =>
    store(newCredential(request, login, project), login, deps),
  );
  return { credential, login };
};

/** Like `storeCredential`, for an HTTP request: returns the HTTP answer. */
export const createCredential = async (
  request: CreateCredential,
  project: Project,
  deps: CreateDeps,
): Promise<CredentialAnswer> => {
  const opened = await withOpenedValues(request, project, deps);
  const { credential, login } = await storeCredential(opened, project, deps);
  return credentialAnswer(credential, deps, login.totpSecret);
};

/**
 * The present TOTP code. Throws `not_found`, also for a credential without a TOTP secret, and `conflict` for a
 * malformed secret.
 */
export const readTotpCode = async (
  idOrName: string,
  project: Project,
  deps: { kube: Kube; secretsKeys: SecretsKeys },
): Promise<TotpCode> => {
  const { totpSecret } = await openLogin(await fetchCredential(idOrName, project, deps), deps);
  if (!totpSecret) throw new AppError("not_found", `credential ${idOrName} has no TOTP secret`);
  const code = totpCode(totpSecret.reveal(), Date.now());
  if (!code) throw new AppError("conflict", `the TOTP secret of credential ${idOrName} is no base32 text`);
  return code;
};

/** Deletes a credential; the operator deletes its Secret and then removes its finalizer. Throws `not_found`. */
export const deleteCredential = async (idOrName: string, project: Project, deps: { kube: Kube }): Promise<void> => {
  const { metadata } = await fetchCredential(idOrName, project, deps);
  await deps.kube.delete(credentialKind, metadata, { uid: metadata.uid });
};
