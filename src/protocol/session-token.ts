import type { KeyObject } from "node:crypto";
import { jwtVerify } from "jose";
import { signJwt } from "./sign-jwt.ts";

/** The content of a session's token: the lease that it opens. */
export type SessionClaims = { sessionId: string; poolUid: string };

const audience = "gateway";

/**
 * The `jwt` of a session's `cdp_ws_url`. It has no expiry of its own: it is valid as long as its lease, which the gateway
 * looks up on every use. Ed25519 is deterministic, so the same session always has the same URL.
 */
export const signSessionToken = (privateKey: KeyObject, { sessionId, poolUid }: SessionClaims): string =>
  signJwt(privateKey, { pool: poolUid, aud: audience, sub: sessionId });

/** The claims of a token signed by `signSessionToken`, or undefined when it is forged, malformed or for another audience. */
export const verifySessionToken = async (publicKey: KeyObject, token: string): Promise<SessionClaims | undefined> => {
  try {
    const { payload } = await jwtVerify(token, publicKey, { algorithms: ["EdDSA"], audience });
    if (!payload.sub || typeof payload.pool !== "string") return undefined;
    return { sessionId: payload.sub, poolUid: payload.pool };
  } catch {
    return undefined;
  }
};
