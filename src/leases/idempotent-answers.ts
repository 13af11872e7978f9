/**
 * Answers of requests with an `Idempotency-Key`, kept for a day (contract.md, Retries).
 *
 *   (none) ──begin──► pending ──finish──► done (replayed)
 *                      │  ▲ renewed while the request runs; expires soon when its replica dies
 *                      └──forget──► (none)   the answer can change: it was an error of ours, or the caller is gone
 */
import { orUnavailable } from "./lease-store.ts";
import { idempotencyKey } from "./pool-keys.ts";
import type { RedisConnection } from "./redis.ts";

const keptSeconds = 24 * 60 * 60;
const pendingSeconds = 30;

/** How often a running request renews its mark, ms. */
export const renewMs = 10_000;

type Entry = { bodyDigest: string; sealed?: string };

export type Begun =
  | { kind: "fresh" }
  | { kind: "replay"; sealed: string }
  | { kind: "running" }
  | { kind: "otherBody" };

export type IdempotentAnswers = {
  /** `digest` names caller, route and key; `bodyDigest` the body. */
  begin(digest: string, bodyDigest: string): Promise<Begun>;
  renew(digest: string): Promise<void>;
  finish(digest: string, entry: { bodyDigest: string; sealed: string }): Promise<void>;
  forget(digest: string): Promise<void>;
};

export const createIdempotentAnswers = (redis: RedisConnection): IdempotentAnswers => ({
  async begin(digest, bodyDigest) {
    const key = idempotencyKey(digest);
    const entry: Entry = { bodyDigest };
    const isFresh = await orUnavailable(redis.set(key, JSON.stringify(entry), "EX", pendingSeconds, "NX"));
    if (isFresh) return { kind: "fresh" };
    const text = await orUnavailable(redis.get(key));
    if (!text) return { kind: "running" }; // it expired in this moment; the caller's repetition begins it
    const known = JSON.parse(text) as Entry;
    if (known.bodyDigest !== bodyDigest) return { kind: "otherBody" };
    return known.sealed === undefined ? { kind: "running" } : { kind: "replay", sealed: known.sealed };
  },
  async renew(digest) {
    await orUnavailable(redis.expire(idempotencyKey(digest), pendingSeconds));
  },
  async finish(digest, entry) {
    await orUnavailable(redis.set(idempotencyKey(digest), JSON.stringify(entry), "EX", keptSeconds));
  },
  async forget(digest) {
    await orUnavailable(redis.unlink(idempotencyKey(digest)));
  },
});
