import type { KeyObject } from "node:crypto";
import { jwtVerify } from "jose";
import { signJwt } from "./sign-jwt.ts";

/** Lifetime of a token for an agent, s. Long enough for many calls, short enough that a leaked token expires soon. */
export const agentTokenSeconds = 120;

/** Tolerated difference between the clocks of two nodes, in seconds. */
const clockToleranceSeconds = 30;

const audience = (podUid: string): string => `agent:${podUid}`;

export type AgentTokens = {
  /** Returns a token that this pod's agent accepts, and the same one again until half of its lifetime is over. */
  tokenFor(podUid: string): string;
};

/** Tokens for agents: Ed25519 JWTs, each for the one pod named in `aud`. `now` is in ms since the epoch. */
export const createAgentTokens = (privateKey: KeyObject, now: () => number = Date.now): AgentTokens => {
  const cache = new Map<string, { token: string; renewAtMs: number }>();
  const sign = (podUid: string): string => {
    const iat = Math.floor(now() / 1000);
    return signJwt(privateKey, { aud: audience(podUid), iat, exp: iat + agentTokenSeconds });
  };
  /** All tokens live equally long, so the map begins with the oldest. */
  const dropOld = (): void => {
    for (const [podUid, { renewAtMs }] of cache) {
      if (renewAtMs > now()) return;
      cache.delete(podUid);
    }
  };
  return {
    tokenFor(podUid) {
      const known = cache.get(podUid);
      if (known && known.renewAtMs > now()) return known.token;
      dropOld();
      const token = sign(podUid);
      cache.set(podUid, { token, renewAtMs: now() + (agentTokenSeconds * 1000) / 2 });
      return token;
    },
  };
};

/** Tokens that an agent remembers: two for each of its callers. */
const maxRemembered = 32;

export type VerifyAgentToken = (token: string) => Promise<boolean>;

/**
 * The agent's side: true for a token that was signed for this pod and has not expired. Remembers accepted tokens until they
 * expire, because the agent's callers (every API replica and the operator) reuse theirs.
 */
export const createAgentTokenVerifier = (publicKey: KeyObject, podUid: string): VerifyAgentToken => {
  const expiresAtMs = new Map<string, number>();
  return async (token) => {
    if ((expiresAtMs.get(token) ?? 0) > Date.now()) return true;
    expiresAtMs.delete(token);
    try {
      const { payload } = await jwtVerify(token, publicKey, {
        algorithms: ["EdDSA"],
        audience: audience(podUid),
        clockTolerance: clockToleranceSeconds,
        requiredClaims: ["exp"],
      });
      const [oldest] = expiresAtMs.keys();
      if (expiresAtMs.size >= maxRemembered && oldest !== undefined) expiresAtMs.delete(oldest);
      expiresAtMs.set(token, (payload.exp ?? 0) * 1000);
      return true;
    } catch {
      return false;
    }
  };
};
