import { changedLogin, type Login, type LoginChange, shapeOf } from "../../domain/change-login.ts";
import { AppError } from "../../errors.ts";
import { hasReason } from "../../kube/kube-error.ts";
import { type Credential, credentialKind, hasOwnSecret } from "../../resources/credential.ts";
import type { CredentialRecord, UpdateCredential } from "../../resources/credential-wire.ts";
import { updatedAtAnnotation, wireName } from "../../resources/identity.ts";
import type { Project } from "../projects/projects.ts";
import { looksSealed } from "../secrets/sealing.ts";
import { changeLogin } from "../secrets/stored-login.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { credentialAnswer } from "./credential-answer.ts";
import { withCredentialName } from "./credential-names.ts";
import { fetchCredential } from "./fetch-credential.ts";
import { renameCredentialOfConnections } from "./rename-credential.ts";

type Deps = Pick<ServiceDeps, "kube" | "locks" | "secretsKeys">;

const loginChange = ({ values, remove_value_keys, totp_secret }: UpdateCredential): LoginChange => ({
  values,
  removeValueKeys: remove_value_keys,
  totpSecret: totp_secret,
});

/** Writes a credential's own Secret even when only other fields change: that encrypts the values anew with the newest key. */
const writeLogin = async (
  credential: Credential,
  request: UpdateCredential,
  deps: Deps,
): Promise<Login | undefined> => {
  const change = loginChange(request);
  const isAsked = Object.values(change).some((field) => field !== undefined);
  if (!isAsked && !hasOwnSecret(credential)) return undefined;
  return changeLogin(credential, (login) => changedLogin(login, change, (value) => !looksSealed(value)), deps);
};

const writeSpec = async (
  { metadata }: Credential,
  { request, login }: { request: UpdateCredential; login: Login | undefined },
  { kube }: Deps,
): Promise<Credential> => {
  const shape = login && shapeOf(login);
  const spec = {
    ...(request.name !== undefined && { name: request.name }),
    ...(request.sso_provider !== undefined && { ssoProvider: request.sso_provider || null }),
    ...(shape && { valueKeys: shape.valueNames, totp: shape.hasTotp }),
  };
  const annotations = { [updatedAtAnnotation]: new Date().toISOString() };
  try {
    return await kube.patch(credentialKind, metadata, { metadata: { annotations }, spec });
  } catch (error) {
    if (hasReason(error, "NotFound")) throw new AppError("not_found", "the credential was deleted meanwhile");
    throw error;
  }
};

/** Changes a credential. Only one change of it runs at a time, so that its spec always matches its Secret. */
export const changeCredential = (
  credential: Credential,
  { request, project }: { request: UpdateCredential; project: Project },
  deps: Deps,
): Promise<{ credential: Credential; login: Login | undefined }> =>
  deps.locks.hold(["change-credential", credential.metadata.uid], async () => {
    const write = async () => {
      const login = await writeLogin(credential, request, deps);
      return { login, credential: await writeSpec(credential, { request, login }, deps) };
    };
    const oldName = wireName(credential) ?? credential.metadata.name;
    const { name } = request;
    if (name === undefined || name === oldName) return write();
    const changed = await withCredentialName({ name, project, ownId: credential.metadata.name }, deps, write);
    await renameCredentialOfConnections({ from: oldName, to: name, project }, deps);
    return changed;
  });

/** Changes the given fields. Throws `not_found`, `bad_request`, `name_taken`, and `conflict` for values in a user's own Secret. */
export const updateCredential = async (
  { idOrName, request }: { idOrName: string; request: UpdateCredential },
  project: Project,
  deps: Deps,
): Promise<CredentialRecord> => {
  const before = await fetchCredential(idOrName, project, deps);
  const { credential, login } = await changeCredential(before, { request, project }, deps);
  const newTotpSecret = request.totp_secret ? login?.totpSecret : undefined;
  return credentialAnswer(credential, { valueKeys: true, newTotpSecret }, deps);
};
