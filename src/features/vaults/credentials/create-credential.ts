import { newId } from "../../../core/objects/new-id.ts";
import { withFreeName } from "../../../core/objects/with-free-name.ts";
import type { Project } from "../../../core/projects/projects.ts";
import { secretFinalizer } from "../../../platform/kinds/finalizers.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { NewObject } from "../../../platform/kube/objects.ts";
import type { Locks } from "../../../platform/redis/locks.ts";
import { looksSealed } from "../../../platform/secrets/sealing.ts";
import type { SecretsKeys } from "../../../platform/secrets/secrets-key.ts";
import { changedLogin, type Login, noLogin, shapeOf } from "../connections/rules/change-login.ts";
import { changeLogin } from "../logins/stored-login.ts";
import { type Credential, credentialKind, ownSecretName } from "./credential.ts";
import { credentialAnswer } from "./credential-answer.ts";
import type { CreateCredential, CredentialRecord } from "./credential-wire.ts";
import { requireOrigins } from "./require-origins.ts";

type Deps = { kube: Kube; locks: Locks; secretsKeys: SecretsKeys };

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
const store = async (credential: NewObject<Credential>, login: Login, deps: Deps): Promise<Credential> => {
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
  deps: Deps,
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
  deps: Deps,
): Promise<CredentialRecord> => {
  const { credential, login } = await storeCredential(request, project, deps);
  return credentialAnswer(credential, deps, login.totpSecret);
};
