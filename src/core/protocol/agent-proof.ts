/**
 * How an agent proves that it is the one of its pod. An address alone proves nothing: another program may answer on it,
 * as a pod that has the address of a pod that is gone.
 *
 *   the caller sends   x-browserpool-nonce: 22 random characters, new for every call
 *   the agent answers  x-browserpool-proof: HMAC-SHA256 by its pod's key over the nonce, the request line, the status and the body
 *
 * The nonce keeps an older answer from being sent again, the request line keeps the answer to another call from
 * counting as this one's. The proof says who answers. It does not keep a network from reading or changing what follows
 * an upgrade.
 */
import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";

/** The header of a call that asks for a proof. */
export const nonceHeader = "x-browserpool-nonce";
/** The header of an answer that contains the proof. */
export const proofHeader = "x-browserpool-proof";

/**
 * What a proof is about. `path`: with its query. `body`: "" of an answer that goes on after its head (an upgrade, a
 * stream of lines).
 */
export type Proven = { nonce: string; method: string; path: string; status: number; body: string | Uint8Array };

/** What the agent speaks over a WebSocket, by the path of the upgrade. */
export type UpgradePath = "/cdp" | "/webdriver" | "/view";

/**
 * What the proof of a stream of lines is over in place of its body, which is not there yet. Every other answer has a
 * body.
 */
export const streamedBody = "";

/** An upgrade to this path: its proof comes in the head of the answer, before any byte of the connection. */
export const upgradeTo = (path: UpgradePath) => ({ method: "GET", path, body: "" });

/** 16 random bytes in base64url; anything else gets no proof, so that the text that is signed has one meaning. */
const noncePattern = /^[A-Za-z0-9_-]{22}$/;

/** The nonce of a request; undefined when it has none, or a malformed one. */
export const nonceIn = (headers: Record<string, string | string[] | undefined>): string | undefined => {
  const nonce = headers[nonceHeader];
  return typeof nonce === "string" && noncePattern.test(nonce) ? nonce : undefined;
};

/** The value of the proof header. */
export const proofOf = (key: KeyObject, { nonce, method, path, status, body }: Proven): string =>
  createHmac("sha256", key).update(`${nonce}\n${method} ${path}\n${status}\n`).update(body).digest("base64url");

/** Whether the proof is by this key. Takes the same time for every wrong proof of the right length. */
export const isProofOf = (key: KeyObject, proof: string | undefined, proven: Proven): boolean => {
  const [given, wanted] = [Buffer.from(proof ?? ""), Buffer.from(proofOf(key, proven))];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
};
