import { isDeepStrictEqual } from "node:util";
import { fetchObjects } from "../../../core/objects/fetch-object.ts";
import { withFreeName } from "../../../core/objects/with-free-name.ts";
import type { Project } from "../../../core/projects/projects.ts";
import { commonOrigins } from "../../../platform/addresses/allowed-origins.ts";
import { AppError } from "../../../platform/base/errors.ts";
import { updatedAtAnnotation, wireName } from "../../../platform/kinds/identity.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import { hasReason } from "../../../platform/kube/kube-error.ts";
import type { Locks } from "../../../platform/redis/locks.ts";
import { looksSealed, type SecretsKeys } from "../../../platform/secrets/sealing.ts";
import { authConnectionKind } from "../connections/auth-connection.ts";
import { changedLogin, type Login, type LoginChange, shapeOf } from "../connections/rules/change-login.ts";
import { withOpenedValues } from "../encryption/vault-key.ts";
import { changeLogin, openLogin } from "../logins/stored-login.ts";
import {
  type Credential,
  type CredentialAnswer,
  credentialKind,
  hasOwnSecret,
  type UpdateCredential,
} from "./credential.ts";
import { credentialAnswer, fetchCredential, requireOrigins } from "./credentials.ts";

/** Updates the connections that refer to a credential by its old name. */
export const renameCredentialOfConnections = async (
  { from, to, project }: { from: string; to: string; project: Project },
  deps: { kube: Kube },
): Promise<void> => {
  const connections = (await fetchObjects(authConnectionKind, project, deps)).filter(
    ({ spec }) => spec.credential?.name === from,
  );
  await Promise.all(
    connections.map(({ metadata }) =>
      deps.kube.patch(authConnectionKind, metadata, { spec: { credential: { name: to } } }),
    ),
  );
};

type Deps = { kube: Kube; locks: Locks; secretsKeys: SecretsKeys };

const loginChange = ({ values, remove_value_keys, totp_secret }: UpdateCredential): LoginChange => ({
  values,
  removeValueKeys: remove_value_keys,
  totpSecret: totp_secret,
});

const changesLogin = (request: UpdateCredential): boolean =>
  Object.values(loginChange(request)).some((field) => field !== undefined);

const changed =
  (request: UpdateCredential) =>
  (login: Login): Login =>
    changedLogin(login, loginChange(request), (value) => !looksSealed(value));

/**
 * Writes a credential's own Secret even when only other fields change: that encrypts the values anew with the newest
 * key.
 */
const writeLogin = async (
  credential: Credential,
  request: UpdateCredential,
  deps: Deps,
): Promise<Login | undefined> => {
  if (!changesLogin(request) && !hasOwnSecret(credential)) return undefined;
  return changeLogin(credential, changed(request), deps);
};

/** Annotation of a credential whose connections may still have its old name, which is the value. */
const renamedFromAnnotation = "browserpool.dev/renamed-from";

const patchSpec = async (
  { metadata }: Credential,
  spec: object,
  { kube }: Deps,
  annotations: Record<string, string | null> = {},
): Promise<Credential> => {
  const noted = { ...annotations, [updatedAtAnnotation]: new Date().toISOString() };
  try {
    return await kube.patch(credentialKind, metadata, { metadata: { annotations: noted }, spec });
  } catch (error) {
    if (hasReason(error, "NotFound")) throw new AppError("not_found", "the credential was deleted meanwhile");
    throw error;
  }
};

/**
 * For a change of both values and origins: leaves only the origins that are allowed before and after it, while the
 * values are written. So no fill types new values into pages of the old origins, or old values into pages of the new
 * ones, also when the change stops half-way.
 */
const narrowOrigins = async (credential: Credential, request: UpdateCredential, deps: Deps): Promise<void> => {
  const { allowed_origins } = request;
  if (allowed_origins === undefined || !changesLogin(request) || !hasOwnSecret(credential)) return;
  // Throws if the values will be refused: then nothing changes.
  changed(request)(await openLogin(credential, deps));
  const current = await deps.kube.get(credentialKind, credential.metadata);
  if (!current) throw new AppError("not_found", "the credential was deleted meanwhile");
  const common = commonOrigins([current.spec.allowedOrigins, allowed_origins ?? undefined]);
  if (!isDeepStrictEqual(common, current.spec.allowedOrigins))
    await patchSpec(current, { allowedOrigins: common }, deps);
};

const writeSpec = (
  credential: Credential,
  { request, login, oldName }: { request: UpdateCredential; login: Login | undefined; oldName?: string | undefined },
  deps: Deps,
): Promise<Credential> => {
  const shape = login && shapeOf(login);
  const spec = {
    ...(request.name !== undefined && { name: request.name }),
    ...(request.sso_provider !== undefined && { ssoProvider: request.sso_provider || null }),
    ...(request.allowed_origins !== undefined && { allowedOrigins: request.allowed_origins }),
    ...(shape && { valueKeys: shape.valueNames, totp: shape.hasTotp }),
  };
  return patchSpec(credential, spec, deps, oldName === undefined ? {} : { [renamedFromAnnotation]: oldName });
};

/**
 * Gives connections the name that their credential has by now. The annotation says which one they have until then, so a
 * change that broke off between the two is finished by the next one.
 */
const finishRename = async (credential: Credential, project: Project, deps: Deps): Promise<Credential> => {
  const from = credential.metadata.annotations?.[renamedFromAnnotation];
  const to = wireName(credential);
  if (from === undefined || to === undefined) return credential;
  await renameCredentialOfConnections({ from, to, project }, deps);
  return patchSpec(credential, {}, deps, { [renamedFromAnnotation]: null });
};

/** Changes a credential. Only one change of it runs at a time, so that its spec always matches its Secret. */
export const changeCredential = (
  credential: Credential,
  { request, project }: { request: UpdateCredential; project: Project },
  deps: Deps,
): Promise<{ credential: Credential; login: Login | undefined }> =>
  deps.locks.hold(["change-credential", credential.metadata.uid], async () => {
    requireOrigins(request);
    await finishRename(credential, project, deps);
    const write = async (oldName?: string) => {
      await narrowOrigins(credential, request, deps);
      const login = await writeLogin(credential, request, deps);
      return { login, credential: await writeSpec(credential, { request, login, oldName }, deps) };
    };
    const oldName = wireName(credential) ?? credential.metadata.name;
    const { name } = request;
    if (name === undefined || name === oldName) return write();
    const renamed = await withFreeName(
      credentialKind,
      { name, what: "credential", project, ownId: credential.metadata.name },
      deps,
      () => write(oldName),
    );
    return { ...renamed, credential: await finishRename(renamed.credential, project, deps) };
  });

/**
 * Changes the given fields. Throws `not_found`, `bad_request`, `encryption_key_mismatch`, `name_taken`, and `conflict` for values in a user's own
 * Secret.
 */
export const updateCredential = async (
  { idOrName, request }: { idOrName: string; request: UpdateCredential },
  project: Project,
  deps: Deps,
): Promise<CredentialAnswer> => {
  const before = await fetchCredential(idOrName, project, deps);
  const opened = await withOpenedValues(request, project, deps);
  const { credential, login } = await changeCredential(before, { request: opened, project }, deps);
  const newTotpSecret = request.totp_secret ? login?.totpSecret : undefined;
  return credentialAnswer(credential, deps, newTotpSecret);
};
