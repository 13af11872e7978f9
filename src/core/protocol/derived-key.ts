import { createSecretKey, hkdfSync, type KeyObject } from "node:crypto";

const known = new WeakMap<KeyObject, Map<string, KeyObject>>();

const bytesOf = (key: KeyObject): Buffer =>
  key.type === "secret" ? key.export() : key.export({ type: "pkcs8", format: "der" });

/**
 * A key of 32 bytes for one purpose, from a secret or private key. Whoever has that key gets the same one; each purpose
 * has another. It is derived once.
 */
export const derivedKey = (key: KeyObject, purpose: string): KeyObject => {
  const ofKey = known.get(key) ?? new Map<string, KeyObject>();
  known.set(key, ofKey);
  const found = ofKey.get(purpose);
  if (found) return found;
  const made = createSecretKey(Buffer.from(hkdfSync("sha256", bytesOf(key), "", `browserpool ${purpose}`, 32)));
  ofKey.set(purpose, made);
  return made;
};
