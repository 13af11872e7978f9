import type { KeyObject } from "node:crypto";
import { crc32 } from "node:zlib";
import { LRUCache } from "lru-cache";
import { signJwt, verifyJwt } from "./jwt.ts";

/**
 * Lifetime of a token for an agent, s. A new one is made every half of it. Until then all callers make the same one, so
 * an agent that the operator has asked meanwhile knows the token that an API replica shows at its first call.
 */
export const agentTokenSeconds = 1200;

const renewSeconds = agentTokenSeconds / 2;

/** Tolerated difference between the clocks of two nodes, in seconds. */
const clockToleranceSeconds = 30;

/** Most tokens that a caller of agents keeps, 4 MB: enough for 10,000 browsers. */
const maxKept = 10_000;

const audience = (podUid: string): string => `agent:${podUid}`;

export type AgentTokens = {
  /**
   * Returns a token that this pod's agent accepts: the same one as every other caller, until half of its lifetime is
   * over.
   */
  tokenFor(podUid: string): string;
  /**
   * Makes the tokens for this pod go by its agent's clock from now on. `agentMs`: its time, ms since 1970. Only for
   * this pod, so that an agent that tells a false time spoils no other pod's tokens.
   */
  goBy(podUid: string, agentMs: number): void;
};

/** `wall`: ms since 1970, may be set at any time. `monotonic`: ms since whenever, is never set. */
type Clocks = { wall(): number; monotonic(): number };

const ownClocks: Clocks = { wall: () => Date.now(), monotonic: () => performance.now() };

/**
 * When the token of a pod that is current at `atMs` was made, s since 1970. Each pod has times of its own, so that not
 * all change at once.
 */
const madeAt = (podUid: string, atMs: number): number => {
  const seconds = Math.floor(atMs / 1000);
  return seconds - ((seconds + crc32(podUid)) % renewSeconds);
};

/**
 * Tokens for agents: Ed25519 JWTs, each for the one pod named in `aud`. Ed25519 is deterministic, so one time gives one
 * token.
 */
export const createAgentTokens = (privateKey: KeyObject, { wall, monotonic }: Clocks = ownClocks): AgentTokens => {
  const kept = new LRUCache<string, { iat: number; token: string }>({ max: maxKept });
  /** Pod → what to add to the monotonic clock for its agent's time. */
  const offsets = new LRUCache<string, number>({ max: maxKept });
  const agentMs = (podUid: string): number => {
    const offset = offsets.get(podUid);
    return offset === undefined ? wall() : monotonic() + offset;
  };
  return {
    goBy: (podUid, ms) => void offsets.set(podUid, ms - monotonic()),
    tokenFor(podUid) {
      const iat = madeAt(podUid, agentMs(podUid));
      const known = kept.get(podUid);
      if (known?.iat === iat) return known.token;
      const token = signJwt(privateKey, { aud: audience(podUid), iat, exp: iat + agentTokenSeconds });
      kept.set(podUid, { iat, token });
      return token;
    },
  };
};

/** Tokens that an agent remembers: two of its callers whose clocks are right, and some of others. */
const maxRemembered = 32;

export type VerifyAgentToken = (token: string) => Promise<boolean>;

/**
 * The agent's side: true for a token that was signed for this pod and has not expired. Remembers accepted tokens for as
 * long as they had to live then, because the agent's callers (every API replica and the operator) show the same one
 * again and again; a clock that is set meanwhile changes nothing about that.
 */
export const createAgentTokenVerifier = (publicKey: KeyObject, podUid: string): VerifyAgentToken => {
  /** Token → until when it is good, by the monotonic clock. */
  const goodUntilMs = new LRUCache<string, number>({ max: maxRemembered });
  return async (token) => {
    if ((goodUntilMs.get(token) ?? 0) > performance.now()) return true;
    goodUntilMs.delete(token);
    const payload = await verifyJwt(publicKey, token, {
      algorithms: ["EdDSA"],
      audience: audience(podUid),
      clockTolerance: clockToleranceSeconds,
      requiredClaims: ["exp"],
    });
    if (!payload) return false;
    // Not longer than a token lives, however far in the future the clock of its signer is.
    const leftMs = Math.min((payload.exp ?? 0) * 1000 - Date.now(), agentTokenSeconds * 1000);
    goodUntilMs.set(token, performance.now() + leftMs);
    return true;
  };
};
