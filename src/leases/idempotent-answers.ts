/**
 * Answers of requests with an `Idempotency-Key`, kept for a day (contract.md, Retries).
 *
 *   (none) ──begin──► pending ──finish──► done (replayed)
 *                      │  ▲ renewed while the request runs; expires soon when its replica dies
 *                      └──forget──► (none)   the answer can change: it was an error of ours, or the caller is gone
 *
 * Memory of Redis is bounded: an answer that is too large is not kept, only that the request was carried out.
 */
import { randomUUID } from "node:crypto";
import { orUnavailable } from "./lease-store.ts";
import { idempotencyKey } from "./pool-keys.ts";
import type { RedisConnection } from "./redis.ts";
import { overHiccup } from "./while-unavailable.ts";

const keptSeconds = 24 * 60 * 60;
const pendingSeconds = 30;

/** How often a running request renews its mark, ms. */
export const renewMs = 10_000;

/** Longest answer that is kept, characters; far above a session or a pool with a Chrome policy of some size. */
export const longestKept = 256 * 1024;

/** `by`: the run that began it; by it the run knows its own mark when the answer to making it was lost. */
type Entry = { bodyDigest: string; by?: string; sealed?: string; isTooLong?: true };

export type Begun =
  | { kind: "fresh" }
  | { kind: "replay"; sealed: string }
  | { kind: "running" }
  /** Carried out, but its answer was too long to keep. */
  | { kind: "notKept" }
  | { kind: "otherBody" };

export type IdempotentAnswers = {
  /** `digest` names caller, route and key; `bodyDigest` the body. */
  begin(digest: string, bodyDigest: string): Promise<Begun>;
  renew(digest: string): Promise<void>;
  finish(digest: string, entry: { bodyDigest: string; sealed: string }): Promise<void>;
  forget(digest: string): Promise<void>;
};

const begin = async (redis: RedisConnection, key: string, entry: Entry): Promise<Begun> => {
  const isFresh = await orUnavailable(redis.set(key, JSON.stringify(entry), "EX", pendingSeconds, "NX"));
  if (isFresh) return { kind: "fresh" };
  const text = await orUnavailable(redis.get(key));
  if (!text) return { kind: "running" }; // it expired in this moment; the caller's repetition begins it
  const known = JSON.parse(text) as Entry;
  if (known.by !== undefined && known.by === entry.by) return { kind: "fresh" };
  if (known.bodyDigest !== entry.bodyDigest) return { kind: "otherBody" };
  if (known.isTooLong) return { kind: "notKept" };
  return known.sealed === undefined ? { kind: "running" } : { kind: "replay", sealed: known.sealed };
};

export const createIdempotentAnswers = (redis: RedisConnection): IdempotentAnswers => ({
  begin(digest, bodyDigest) {
    const entry: Entry = { bodyDigest, by: randomUUID() };
    return overHiccup(() => begin(redis, idempotencyKey(digest), entry));
  },
  async renew(digest) {
    await orUnavailable(redis.expire(idempotencyKey(digest), pendingSeconds));
  },
  async finish(digest, { bodyDigest, sealed }) {
    const entry: Entry = { bodyDigest, ...(sealed.length > longestKept ? { isTooLong: true } : { sealed }) };
    const text = JSON.stringify(entry);
    await overHiccup(() => orUnavailable(redis.set(idempotencyKey(digest), text, "EX", keptSeconds)));
  },
  async forget(digest) {
    await overHiccup(() => orUnavailable(redis.unlink(idempotencyKey(digest))));
  },
});
