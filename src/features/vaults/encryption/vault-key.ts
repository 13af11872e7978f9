/**
 * The key of a vault. What is encrypted to it travels sealed from a page that collects a login to this service, through
 * every program between them:
 *
 *   page ──► JWE (ECDH-ES, A256GCM, the kid of the vault) ──► a backend, which can't open it ──► here, into a Secret
 *
 * The private half is in a Secret of the vault, which the operator deletes with it.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { calculateJwkThumbprint, compactDecrypt, decodeProtectedHeader } from "jose";
import { z } from "zod";
import { fetchObject } from "../../../core/objects/fetch-object.ts";
import type { Project } from "../../../core/projects/projects.ts";
import { AppError, invalidInput } from "../../../platform/base/errors.ts";
import { Sensitive } from "../../../platform/base/sensitive.ts";
import { wireId } from "../../../platform/kinds/identity.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import { hasReason } from "../../../platform/kube/kube-error.ts";
import { secrets, typeMeta } from "../../../platform/kube/resource-type.ts";
import { open, type SecretsKeys, seal } from "../../../platform/secrets/sealing.ts";
import { CredentialValues } from "../credentials/credential.ts";
import { type Vault, vaultKind } from "../vault.ts";
import { fetchVault } from "../vaults.ts";

const alg = "ECDH-ES";
const enc = "A256GCM";

/** The key as HTTP answers show it: the public half. */
export const EncryptionKeyAnswer = z.object({
  kid: z.string().describe("The `kid` that a JWE must have in its protected header."),
  alg: z.literal(alg),
  enc: z.literal(enc),
  jwk: z
    .object({ kty: z.literal("EC"), crv: z.literal("P-256"), x: z.string(), y: z.string() })
    .describe("The public key. It stays the same as long as the vault is there."),
});
type EncryptionKeyAnswer = z.infer<typeof EncryptionKeyAnswer>;

type Deps = { kube: Kube; secretsKeys: SecretsKeys };

const secretType = "browserpool.dev/vault-key";
const entry = "private-key";

/** The name of the Secret with the key of the vault that has this uid. */
export const vaultKeySecret = (uid: string): string => `vault-key-${uid}`;

const placeOf = ({ metadata: { namespace, uid } }: Vault) => ({ namespace, name: vaultKeySecret(uid) });

/** The private key of a vault; undefined before the first request for it. */
const readKey = async (vault: Vault, { kube, secretsKeys }: Deps): Promise<KeyObject | undefined> => {
  const place = placeOf(vault);
  const secret = await kube.get(secrets, place);
  const stored = secret?.type === secretType ? secret.data?.[entry] : undefined;
  if (stored === undefined) return undefined;
  const text = open(Buffer.from(stored, "base64").toString(), secretsKeys, { ...place, entry });
  return createPrivateKey(text.reveal());
};

const createKey = async (vault: Vault, deps: Deps): Promise<void> => {
  const place = placeOf(vault);
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const text = new Sensitive(privateKey.export({ format: "pem", type: "pkcs8" }).toString());
  const { name, uid } = vault.metadata;
  const stored = Buffer.from(seal(text, deps.secretsKeys, { ...place, entry })).toString("base64");
  const metadata = { ...place, ownerReferences: [{ ...typeMeta(vaultKind), name, uid }] };
  try {
    await deps.kube.create(secrets, { metadata, type: secretType, data: { [entry]: stored } });
  } catch (error) {
    // Another replica was first: its key counts.
    if (!hasReason(error, "AlreadyExists")) throw error;
  }
};

const answerOf = async (vault: Vault, key: KeyObject): Promise<EncryptionKeyAnswer> => {
  const { x = "", y = "" } = createPublicKey(key).export({ format: "jwk" });
  const jwk = { kty: "EC", crv: "P-256", x, y } as const;
  const thumbprint = await calculateJwkThumbprint(jwk);
  return { kid: `${wireId(vault)}.${thumbprint.slice(0, 16)}`, alg, enc, jwk };
};

/** The public key of a vault, which the first request makes. Throws `not_found`. */
export const fetchEncryptionKey = async (
  idOrName: string,
  project: Project,
  deps: Deps,
): Promise<EncryptionKeyAnswer> => {
  const vault = await fetchVault(idOrName, project, deps);
  if (!(await readKey(vault, deps))) await createKey(vault, deps);
  const key = await readKey(vault, deps);
  if (!key) throw new AppError("conflict", `the Secret ${vaultKeySecret(vault.metadata.uid)} is no key of a vault`);
  return answerOf(vault, key);
};

/** The id of the vault that a kid names. */
const vaultIdOf = (kid: string): string => kid.replace(/\.[^.]*$/, "");

const kidOf = (jwe: string): string | undefined => {
  try {
    const { kid } = decodeProtectedHeader(jwe);
    return typeof kid === "string" ? kid : undefined;
  } catch {
    return undefined;
  }
};

/** What a request to store values has. */
type SealedRequest = {
  values?: Record<string, string> | undefined;
  encrypted_values?: Record<string, string> | undefined;
};

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** `path`: of the field in the request. */
const openOne = async (jwe: string, path: string, project: Project, deps: Deps): Promise<string> => {
  const kid = kidOf(jwe);
  if (kid === undefined) throw invalidInput([{ path, message: "is no compact JWE with a kid" }]);
  const mismatch = new AppError("encryption_key_mismatch", `${path}: its kid is of no vault's present key`);
  const vault = await fetchObject(vaultKind, { id: vaultIdOf(kid), project }, deps);
  const key = vault && (await readKey(vault, deps));
  if (!key || (await answerOf(vault, key)).kid !== kid) throw mismatch;
  try {
    const only = { keyManagementAlgorithms: [alg], contentEncryptionAlgorithms: [enc] };
    return utf8.decode((await compactDecrypt(jwe, key, only)).plaintext);
  } catch {
    throw invalidInput([{ path, message: `can't be decrypted: ${alg} and ${enc}, without compression` }]);
  }
};

/**
 * A request with the values that came encrypted among the others. Throws `encryption_key_mismatch`, and `bad_request`
 * for what can't be opened, breaks a rule of values or is given twice; no error quotes a value.
 */
export const withOpenedValues = async <Request extends SealedRequest>(
  { encrypted_values: sealed, ...request }: Request,
  project: Project,
  deps: Deps,
): Promise<Omit<Request, "encrypted_values">> => {
  if (!sealed) return request;
  const opened: [string, string][] = [];
  for (const [name, jwe] of Object.entries(sealed)) {
    const path = `encrypted_values.${name}`;
    if (Object.hasOwn(request.values ?? {}, name)) throw invalidInput([{ path, message: "is given in values too" }]);
    const value = await openOne(jwe, path, project, deps);
    if (!CredentialValues.safeParse({ [name]: value }).success)
      throw invalidInput([{ path, message: "breaks the rules of values" }]);
    opened.push([name, value]);
  }
  const { data: values } = CredentialValues.safeParse({ ...request.values, ...Object.fromEntries(opened) });
  if (!values) throw invalidInput([{ path: "encrypted_values", message: "too many values, together with values" }]);
  return { ...request, values };
};
