import { createHmac, type KeyObject, sign } from "node:crypto";
import type { JWTPayload, JWTVerifyOptions } from "jose";
// Of the whole package, an agent would load four times as much.
import { jwtVerify } from "jose/jwt/verify";

const base64url = (json: object): string => Buffer.from(JSON.stringify(json)).toString("base64url");

const headers = { EdDSA: base64url({ alg: "EdDSA" }), HS256: base64url({ alg: "HS256" }) };

/** The algorithm of a key's tokens. */
export const algorithmOf = ({ type }: KeyObject): "EdDSA" | "HS256" => (type === "secret" ? "HS256" : "EdDSA");

/**
 * A JWT, signed with an Ed25519 key, or proved with a secret one by HMAC. It is signed on this thread because callers
 * wait for it: jose signs on another thread, which takes four times as long. The result is the same, and jose verifies
 * it.
 */
export const signJwt = (key: KeyObject, claims: object): string => {
  const algorithm = algorithmOf(key);
  const signed = `${headers[algorithm]}.${base64url(claims)}`;
  const signature =
    algorithm === "HS256" ? createHmac("sha256", key).update(signed).digest() : sign(null, Buffer.from(signed), key);
  return `${signed}.${signature.toString("base64url")}`;
};

/** Decoders of base64url leave out blanks and take any last bits, so one token could be written in several ways. */
const isAsSigned = (token: string): boolean =>
  token.split(".").every((part) => Buffer.from(part, "base64url").toString("base64url") === part);

/**
 * The claims of a token that this key has signed; undefined when it is forged, malformed, or not what `options` ask
 * for. A token has one spelling, that of `signJwt`: another text is another token.
 */
export const verifyJwt = async (
  key: KeyObject,
  token: string,
  options: JWTVerifyOptions,
): Promise<JWTPayload | undefined> => {
  if (!isAsSigned(token)) return undefined;
  try {
    return (await jwtVerify(token, key, options)).payload;
  } catch {
    return undefined;
  }
};
