/**
 * The content of a credential's Secret: an entry for each value and one for the TOTP secret. No other file reads or
 * writes such a Secret. Errors name entries, never their content.
 */

import { changeObject } from "../../../core/objects/change-object.ts";
import { AppError } from "../../../platform/base/errors.ts";
import { Sensitive } from "../../../platform/base/sensitive.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import { hasReason } from "../../../platform/kube/kube-error.ts";
import type { NewObject, Secret } from "../../../platform/kube/objects.ts";
import { secrets, typeMeta } from "../../../platform/kube/resource-type.ts";
import { looksSealed, open, type Place, type SecretsKeys, seal } from "../../../platform/secrets/sealing.ts";
import { type Login, noLogin } from "../connections/rules/change-login.ts";
import {
  type Credential,
  credentialKind,
  declaredLogin,
  hasOwnSecret,
  hasUnusableTotp,
  isFieldName,
  totpEntry,
  unusableTotpAnnotation,
} from "../credentials/credential.ts";
import type { StoredLogin } from "../items/rules/item-state.ts";
import { normalizeTotpSecret } from "./rules/totp.ts";

/** Prefix of the entries for names that Kubernetes does not allow as an entry. */
const encodedPrefix = "x-";

/** True for names that Kubernetes allows as an entry and that have no special meaning here. */
const isPlain = (name: string): boolean =>
  /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/.test(name) && name !== totpEntry && !name.startsWith(encodedPrefix);

/** The entry of a Secret for the value of this name: the name itself if possible, else `x-` and its base64url. */
export const entryOf = (name: string): string =>
  isPlain(name) ? name : encodedPrefix + Buffer.from(name).toString("base64url");

/** The inverse of `entryOf`. */
export const nameOf = (entry: string): string =>
  entry.startsWith(encodedPrefix) ? Buffer.from(entry.slice(encodedPrefix.length), "base64url").toString() : entry;

/**
 * Tells the operator, which may not read Secrets, whether the stored TOTP secret is no base32 text: by an annotation of
 * the credential, written when that changes. Never rejects; the next read of the Secret tries again.
 */
const mirrorUnusableTotp = async (
  credential: Credential,
  isUnusable: boolean,
  { kube }: { kube: Kube },
): Promise<void> => {
  if (isUnusable === hasUnusableTotp(credential)) return;
  const annotations = { [unusableTotpAnnotation]: isUnusable ? "not-base32" : null };
  await kube.patch(credentialKind, credential.metadata, { metadata: { annotations } }).catch(() => undefined);
};

type Deps = { kube: Kube; secretsKeys: SecretsKeys };

const ownType = "browserpool.dev/credential";

/** A credential must not give access to Secrets with another purpose, such as tokens of the cluster. */
const readableTypes = [ownType, "Opaque", "kubernetes.io/basic-auth"];

const refOf = ({ metadata, spec }: Credential): { namespace: string; name: string } => ({
  namespace: metadata.namespace,
  name: spec.secretRef.name,
});

const fetchSecret = async (credential: Credential, { kube }: Deps): Promise<Secret | undefined> => {
  const secret = await kube.get(secrets, refOf(credential));
  return secret && readableTypes.includes(secret.type ?? "Opaque") ? secret : undefined;
};

/**
 * The entries that are values, by name: all entries of the credential's own Secret, or those that the spec names in
 * another Secret.
 */
const valueEntries = (credential: Credential, data: Record<string, string>): [string, string][] => {
  const names = hasOwnSecret(credential)
    ? Object.keys(data).flatMap((entry) => (entry === totpEntry ? [] : [nameOf(entry)]))
    : credential.spec.valueKeys;
  return names.flatMap((name): [string, string][] => {
    const stored = data[entryOf(name)];
    return stored === undefined ? [] : [[name, stored]];
  });
};

const totpOf = ({ spec }: Credential, isOwn: boolean, data: Record<string, string>): string | undefined =>
  isOwn || spec.totp ? data[totpEntry] || undefined : undefined;

const textOf = (stored: string): string => Buffer.from(stored, "base64").toString("utf8");

/** Whether a stored TOTP secret gives codes. YAML can store any text; what is encrypted was checked before that. */
const givesCodes = (text: string, isOwn: boolean): boolean =>
  (isOwn && looksSealed(text)) || normalizeTotpSecret(text) !== undefined;

/**
 * `names`: all values, also empty ones. An empty value is stored plain, so no key is needed to find out that it is
 * empty. `hasUnusableTotp`: a TOTP secret is stored that is no base32 text; it counts as none (CREDENTIAL-19).
 */
type LoginShape = StoredLogin & { names: string[]; hasUnusableTotp: boolean };

const shapeIn = (credential: Credential, data: Record<string, string>): LoginShape => {
  const entries = valueEntries(credential, data);
  const isOwn = hasOwnSecret(credential);
  const totp = totpOf(credential, isOwn, data);
  const hasTotp = totp !== undefined && givesCodes(textOf(totp), isOwn);
  return {
    names: entries.map(([name]) => name).sort(),
    valueNames: entries.flatMap(([name, stored]) => (stored !== "" && isFieldName(name) ? [name] : [])).sort(),
    hasTotp,
    hasUnusableTotp: totp !== undefined && !hasTotp,
  };
};

/** The names of a credential's values, without decrypting them; empty when its Secret is gone. */
export const fetchLoginShape = async (credential: Credential, deps: Deps): Promise<LoginShape> => {
  const shape = shapeIn(credential, (await fetchSecret(credential, deps))?.data ?? {});
  await mirrorUnusableTotp(credential, shape.hasUnusableTotp, deps);
  return shape;
};

/**
 * The same for lists: a Secret that this service wrote is not read, since the credential's spec says what is in it. A
 * page of large logins would cost a call and its bytes for each.
 */
export const listedLoginShape = async (credential: Credential, deps: Deps): Promise<Omit<LoginShape, "names">> => {
  if (!hasOwnSecret(credential)) return fetchLoginShape(credential, deps);
  const login = declaredLogin(credential);
  return { ...login, hasUnusableTotp: credential.spec.totp && !login.hasTotp };
};

const openSecret = (credential: Credential, secret: Secret | undefined, { secretsKeys }: Deps): Login => {
  const data = secret?.data ?? {};
  const isOwn = hasOwnSecret(credential);
  const read = (entry: string, stored: string): Sensitive => {
    const text = textOf(stored);
    return isOwn ? open(text, secretsKeys, { ...refOf(credential), entry }) : new Sensitive(text);
  };
  const totp = totpOf(credential, isOwn, data);
  const values = valueEntries(credential, data).map(([name, stored]): [string, Sensitive] => [
    name,
    read(entryOf(name), stored),
  ]);
  return { values: new Map(values), totpSecret: totp === undefined ? undefined : read(totpEntry, totp) };
};

/** The login with its decrypted values. Throws `internal_error` when a value is encrypted with an unknown key. */
export const openLogin = async (credential: Credential, deps: Deps): Promise<Login> => {
  const secret = await fetchSecret(credential, deps);
  await mirrorUnusableTotp(credential, shapeIn(credential, secret?.data ?? {}).hasUnusableTotp, deps);
  return openSecret(credential, secret, deps);
};

const dataOf = ({ values, totpSecret }: Login, place: Omit<Place, "entry">, { secretsKeys }: Deps) => {
  const stored = (entry: string, value: Sensitive): [string, string] => {
    const text = value.reveal() === "" ? "" : seal(value, secretsKeys, { ...place, entry });
    return [entry, Buffer.from(text).toString("base64")];
  };
  return Object.fromEntries([
    ...[...values].map(([name, value]) => stored(entryOf(name), value)),
    ...(totpSecret ? [stored(totpEntry, totpSecret)] : []),
  ]);
};

const newSecret = (credential: Credential, login: Login, deps: Deps): NewObject<Secret> => {
  const place = refOf(credential);
  const { name, uid } = credential.metadata;
  return {
    metadata: { ...place, ownerReferences: [{ ...typeMeta(credentialKind), name, uid }] },
    type: ownType,
    data: dataOf(login, place, deps),
  };
};

/** An error message of the API server can quote the written values. */
const withoutContent = (error: unknown): unknown =>
  error instanceof AppError && error.code === "bad_request"
    ? new AppError("bad_request", "the Kubernetes API refuses to store these values")
    : error;

/**
 * Writes the login that `change` returns. One write encrypts all values anew with the newest key; it creates a Secret
 * again that a user has deleted. `change` may throw to give up. Throws `conflict` for a Secret that this service did
 * not create.
 */
export const changeLogin = async (
  credential: Credential,
  change: (login: Login) => Login,
  deps: Deps,
): Promise<Login> => {
  if (!hasOwnSecret(credential))
    throw new AppError(
      "conflict",
      `the values of this credential are in the Secret ${credential.spec.secretRef.name}, which was not made here: change them there`,
    );
  let written: Login | undefined;
  const edit = (): Promise<Secret | undefined> =>
    changeObject(deps.kube, secrets, refOf(credential), (secret) => {
      const after = change(openSecret(credential, secret, deps));
      const gone = Object.fromEntries(Object.keys(secret.data ?? {}).map((entry) => [entry, null]));
      written = after;
      return { data: { ...gone, ...dataOf(after, refOf(credential), deps) } };
    });
  const make = async (): Promise<void> => {
    written = change(noLogin);
    try {
      await deps.kube.create(secrets, newSecret(credential, written, deps));
    } catch (error) {
      if (!hasReason(error, "AlreadyExists")) throw error;
      if (!(await edit())) written = undefined;
    }
  };
  try {
    if (!(await edit())) await make();
  } catch (error) {
    throw withoutContent(error);
  }
  if (!written) throw new AppError("unavailable", "the credential is being deleted", { retryAfterSeconds: 1 });
  return written;
};
