import { type KeyObject, sign } from "node:crypto";

const base64url = (json: object): string => Buffer.from(JSON.stringify(json)).toString("base64url");

const header = base64url({ alg: "EdDSA" });

/**
 * A JWT, signed with an Ed25519 key. It is signed on this thread because callers wait for it: jose signs on another thread,
 * which takes four times as long. The result is the same, and jose verifies it.
 */
export const signJwt = (privateKey: KeyObject, claims: object): string => {
  const signed = `${header}.${base64url(claims)}`;
  return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString("base64url")}`;
};
