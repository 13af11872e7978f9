/**
 * Seals what is secret on its way between the API and an agent, with the key of the agent's pod. Another program that
 * answers on the agent's address, or reads along, learns nothing. Keys for each purpose are derived from the pod's key.
 *
 *   sealed bytes    nonce (12 bytes) | tag (16) | AES-256-GCM; texts too
 *   sealed stream   initial counter (16 bytes) | AES-256-CTR; whoever reads it knows the digest from elsewhere
 */
import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from "node:crypto";
import { derivedKey } from "./derived-key.ts";

const nonceBytes = 12;
const tagBytes = 16;
const counterBytes = 16;

/** Seals bytes. `context`: what they are for; they can be opened with the same one only. */
export const sealBytes = (key: KeyObject, bytes: Buffer, context = ""): Buffer => {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv("aes-256-gcm", derivedKey(key, "text"), nonce);
  cipher.setAAD(Buffer.from(context));
  const sealed = Buffer.concat([cipher.update(bytes), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
};

/** The inverse of `sealBytes`. Throws for bytes that this key has not sealed for this. */
export const openBytes = (key: KeyObject, sealed: Buffer, context = ""): Buffer => {
  const nonce = sealed.subarray(0, nonceBytes);
  const decipher = createDecipheriv("aes-256-gcm", derivedKey(key, "text"), nonce, { authTagLength: tagBytes });
  decipher.setAAD(Buffer.from(context));
  decipher.setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes));
  const opened = decipher.update(sealed.subarray(nonceBytes + tagBytes));
  return Buffer.concat([opened, decipher.final()]);
};

/** Seals a text for the agent with this key. */
export const sealText = (key: KeyObject, text: string): Buffer => sealBytes(key, Buffer.from(text));

/** The inverse of `sealText`. Throws for bytes that this key has not sealed. */
export const openText = (key: KeyObject, sealed: Buffer): string => openBytes(key, sealed).toString("utf8");

/** Bytes that a sealed stream has more than what is sealed. */
export const sealedStreamOverhead = counterBytes;

/** Seals a stream of bytes. */
export const sealStream = async function* (
  key: KeyObject,
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Buffer, void> {
  const counter = randomBytes(counterBytes);
  yield counter;
  const cipher = createCipheriv("aes-256-ctr", derivedKey(key, "stream"), counter);
  for await (const chunk of body) yield cipher.update(chunk);
};

/** The inverse of `sealStream`. It can't tell what was changed: compare the digest of the result. */
export const openStream = async function* (
  key: KeyObject,
  sealed: AsyncIterable<Uint8Array>,
): AsyncGenerator<Buffer, void> {
  let head = Buffer.alloc(0);
  let decipher: ReturnType<typeof createDecipheriv> | undefined;
  for await (const chunk of sealed) {
    if (decipher) {
      yield decipher.update(chunk);
      continue;
    }
    head = Buffer.concat([head, chunk]);
    if (head.length < counterBytes) continue;
    decipher = createDecipheriv("aes-256-ctr", derivedKey(key, "stream"), head.subarray(0, counterBytes));
    yield decipher.update(head.subarray(counterBytes));
  }
};
