import type { KeyObject } from "node:crypto";
import { type JWTPayload, type JWTVerifyOptions, jwtVerify } from "jose";

/** Decoders of base64url leave out blanks and take any last bits, so one token could be written in several ways. */
const isAsSigned = (token: string): boolean =>
  token.split(".").every((part) => Buffer.from(part, "base64url").toString("base64url") === part);

/**
 * The claims of a token that this key has signed; undefined when it is forged, malformed, or not what `options` ask for. A token has one
 * spelling, that of `signJwt`: another text is another token.
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
