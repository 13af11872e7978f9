/**
 * The stored form of values: encrypted when there is a key, else plain.
 *
 *   bp-sealed:v1:<key id>:<base64url of nonce (12 bytes), ciphertext, tag (16 bytes)>
 *
 * The value's place (namespace, Secret, entry) is authenticated with it, so a value that was copied to another place
 * can't be decrypted. A dump of etcd or a backup of Secrets shows names and lengths, but no values.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { AppError } from "../base/errors.ts";
import { Sensitive } from "../base/sensitive.ts";

// The keys that encrypt stored values at rest: AES-256-GCM, 32 random bytes each. One file holds them in base64, one on
// each line. The first key encrypts; the others are former keys, which only decrypt.

type SecretsKey = {
  /** The first 8 hexadecimal digits of the key's SHA-256; every value that the key encrypts contains it. */
  id: string;
  bytes: Buffer;
};

/** The newest key first. Empty: values are stored plain, and only etcd can encrypt them. */
export type SecretsKeys = readonly SecretsKey[];

const keyLength = 32;

const keyOf = (line: string): SecretsKey | undefined => {
  const bytes = Buffer.from(line, "base64");
  if (bytes.length !== keyLength || bytes.toString("base64") !== line) return undefined;
  return { id: createHash("sha256").update(bytes).digest("hex").slice(0, 8), bytes };
};

/**
 * Reads the keys of a file; none for undefined. Throws an `Error` that names the file and the line, but never quotes
 * the line.
 */
export const readSecretsKeys = (file: string | undefined): SecretsKeys => {
  if (file === undefined) return [];
  const lines = readFileSync(file, "utf8")
    .split("\n")
    .map((line) => line.trim());
  const keys = lines.flatMap((line, index) => {
    const key = keyOf(line);
    if (!key && line !== "") throw new Error(`${file}, line ${index + 1}: give ${keyLength} random bytes in base64`);
    return key ? [key] : [];
  });
  if (keys.length === 0) throw new Error(`${file} holds no key: give ${keyLength} random bytes in base64`);
  return keys;
};

const prefix = "bp-sealed:v1:";
const algorithm = "aes-256-gcm";
const nonceLength = 12;
const tagLength = 16;

/** The place of a value: an entry of a Secret. */
export type Place = { namespace: string; name: string; entry: string };

/** Only the last part can contain a slash, so two places never have the same text. */
const textOf = ({ namespace, name, entry }: Place): Buffer => Buffer.from(`${namespace}/${name}/${entry}`);

/** True for a text that `open` would take for an encrypted value; such a text can't be stored as a value. */
export const looksSealed = (text: string): boolean => text.startsWith(prefix);

const encrypt = (text: string, { id, bytes }: SecretsKey, place: Place): string => {
  const nonce = randomBytes(nonceLength);
  const cipher = createCipheriv(algorithm, bytes, nonce).setAAD(textOf(place));
  const sealed = Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
  return `${prefix}${id}:${sealed.toString("base64url")}`;
};

/** The stored form of a value. */
export const seal = (value: Sensitive, keys: SecretsKeys, place: Place): string => {
  const [newest] = keys;
  return newest ? encrypt(value.reveal(), newest, place) : value.reveal();
};

const unreadable = ({ name, entry }: Place, why: string): AppError =>
  new AppError("internal_error", `the entry ${JSON.stringify(entry)} of Secret ${name} can't be read: ${why}`);

const decrypt = (sealed: Buffer, key: Buffer, place: Place): string => {
  const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, nonceLength), { authTagLength: tagLength });
  decipher.setAAD(textOf(place)).setAuthTag(sealed.subarray(-tagLength));
  return Buffer.concat([decipher.update(sealed.subarray(nonceLength, -tagLength)), decipher.final()]).toString("utf8");
};

/**
 * The inverse of `seal`, with any of `keys`. Throws `internal_error` for an unknown key, another place or a changed
 * text.
 */
export const open = (stored: string, keys: SecretsKeys, place: Place): Sensitive => {
  if (!looksSealed(stored)) return new Sensitive(stored);
  const [id = "", text = ""] = stored.slice(prefix.length).split(":");
  const key = keys.find((known) => known.id === id);
  if (!key) throw unreadable(place, `its key ${JSON.stringify(id.slice(0, 8))} is not in BROWSERPOOL_SECRETS_KEY_FILE`);
  try {
    return new Sensitive(decrypt(Buffer.from(text, "base64url"), key.bytes, place));
  } catch {
    throw unreadable(place, "it was changed, or copied from another place");
  }
};
