import type { KeyObject } from "node:crypto";
import { jwtVerify } from "jose";
import { LRUCache } from "lru-cache";
import { signJwt } from "./sign-jwt.ts";

/** Lifetime of a token for an agent, s. Long enough for many calls, short enough that a leaked token expires soon. */
export const agentTokenSeconds = 120;

/** Tolerated difference between the clocks of two nodes, in seconds. */
const clockToleranceSeconds = 30;

/** Most tokens that a caller of agents keeps, 4 MB. It calls fewer browsers than that in half of a token's lifetime. */
const maxKept = 10_000;

const audience = (podUid: string): string => `agent:${podUid}`;

export type AgentTokens = {
  /** Returns a token that this pod's agent accepts, and the same one again until half of its lifetime is over. */
  tokenFor(podUid: string): string;
};

/** Tokens for agents: Ed25519 JWTs, each for the one pod named in `aud`. `now` is in ms since the epoch. */
export const createAgentTokens = (privateKey: KeyObject, now: () => number = Date.now): AgentTokens => {
  const kept = new LRUCache<string, string>({
    max: maxKept,
    ttl: (agentTokenSeconds * 1000) / 2,
    ttlResolution: 0,
    perf: { now },
  });
  const sign = (podUid: string): string => {
    const iat = Math.floor(now() / 1000);
    return signJwt(privateKey, { aud: audience(podUid), iat, exp: iat + agentTokenSeconds });
  };
  return {
    tokenFor(podUid) {
      const known = kept.get(podUid);
      if (known !== undefined) return known;
      const token = sign(podUid);
      kept.set(podUid, token);
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
  const expiresAtMs = new LRUCache<string, number>({ max: maxRemembered });
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
      expiresAtMs.set(token, (payload.exp ?? 0) * 1000);
      return true;
    } catch {
      return false;
    }
  };
};
