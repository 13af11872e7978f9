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
  /**
   * Makes the tokens for this pod go by its agent's clock from now on. `agentMs`: its time, ms since 1970. Only for this pod, so that
   * an agent that tells a false time spoils no other pod's tokens.
   */
  goBy(podUid: string, agentMs: number): void;
};

/** `wall`: ms since 1970, may be set at any time. `monotonic`: ms since whenever, is never set. */
export type Clocks = { wall(): number; monotonic(): number };

const ownClocks: Clocks = { wall: () => Date.now(), monotonic: () => performance.now() };

/** Tokens for agents: Ed25519 JWTs, each for the one pod named in `aud`. */
export const createAgentTokens = (privateKey: KeyObject, { wall, monotonic }: Clocks = ownClocks): AgentTokens => {
  const kept = new LRUCache<string, string>({
    max: maxKept,
    ttl: (agentTokenSeconds * 1000) / 2,
    ttlResolution: 0,
    perf: { now: monotonic },
  });
  /** Pod → what to add to the monotonic clock for its agent's time. */
  const offsets = new LRUCache<string, number>({ max: maxKept });
  const agentMs = (podUid: string): number => {
    const offset = offsets.get(podUid);
    return offset === undefined ? wall() : monotonic() + offset;
  };
  const sign = (podUid: string): string => {
    const iat = Math.floor(agentMs(podUid) / 1000);
    return signJwt(privateKey, { aud: audience(podUid), iat, exp: iat + agentTokenSeconds });
  };
  return {
    goBy(podUid, ms) {
      offsets.set(podUid, ms - monotonic());
      kept.delete(podUid);
    },
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
 * The agent's side: true for a token that was signed for this pod and has not expired. Remembers accepted tokens for as long as they
 * had to live then, because the agent's callers (every API replica and the operator) reuse theirs; a clock that is set meanwhile
 * changes nothing about that.
 */
export const createAgentTokenVerifier = (publicKey: KeyObject, podUid: string): VerifyAgentToken => {
  /** Token → until when it is good, by the monotonic clock. */
  const goodUntilMs = new LRUCache<string, number>({ max: maxRemembered });
  return async (token) => {
    if ((goodUntilMs.get(token) ?? 0) > performance.now()) return true;
    goodUntilMs.delete(token);
    try {
      const { payload } = await jwtVerify(token, publicKey, {
        algorithms: ["EdDSA"],
        audience: audience(podUid),
        clockTolerance: clockToleranceSeconds,
        requiredClaims: ["exp"],
      });
      // Not longer than a token lives, however far in the future the clock of its signer is.
      const leftMs = Math.min((payload.exp ?? 0) * 1000 - Date.now(), agentTokenSeconds * 1000);
      goodUntilMs.set(token, performance.now() + leftMs);
      return true;
    } catch {
      return false;
    }
  };
};
