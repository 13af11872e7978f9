/**
 * The keys that encrypt stored values at rest: AES-256-GCM, 32 random bytes each. One file holds them in base64, one on each line.
 * The first key encrypts; the others are former keys, which only decrypt.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

export type SecretsKey = {
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

/** Reads the keys of a file; none for undefined. Throws an `Error` that names the file and the line, but never quotes the line. */
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
