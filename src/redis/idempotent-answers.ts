/**
 * Answers of requests with an `Idempotency-Key`, kept for a day (HTTP-21).
 *
 *   (none) ──begin──► pending ──finish──► done (replayed)
 *                      │  ▲ renewed while the request runs; expires soon when its replica dies
 *                      └──forget──► (none)   a retry may get another answer: this was a server error, or the caller hung up
 *
 * A run of a request changes only its own mark, or a mark that Redis has lost. When Redis has lost the mark and another run has
 * begun since, this run leaves the other run's mark alone.
 *
 * Redis' memory is bounded: of an answer that is too large Redis keeps only that the request was carried out.
 */
import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { RedisConnection } from "./connection.ts";
import { idempotencyKey } from "./keys.ts";
import { orUnavailable } from "./or-unavailable.ts";
import { loadScript, runScript } from "./script.ts";
import { retryBriefly } from "./while-unavailable.ts";

const keptSeconds = 24 * 60 * 60;
const pendingSeconds = 30;

/** How often a running request renews its mark, ms. */
const renewMs = 10_000;

/** Longest answer that is kept, characters; far above a session or a pool with a Chrome policy of some size. */
export const longestKept = 256 * 1024;

/** `by`: id of the run that made the mark; a run recognises its own mark by it when Redis' answer was lost. */
const Entry = z.object({
  bodyDigest: z.string(),
  by: z.string().exactOptional(),
  sealed: z.string().exactOptional(),
  isTooLong: z.literal(true).exactOptional(),
});
type Entry = z.infer<typeof Entry>;

export type Begun =
  /** `mark`: identifies this run in the other calls. */
  | { kind: "fresh"; mark: string }
  | { kind: "replay"; sealed: string }
  | { kind: "running" }
  /** Carried out, but its answer was too long to keep. */
  | { kind: "notKept" }
  | { kind: "otherBody" };

export type IdempotentAnswers = {
  /** How often a running request calls `renew`, ms. */
  renewMs: number;
  /** `digest` identifies caller, route and key; `bodyDigest` the body. */
  begin(digest: string, bodyDigest: string): Promise<Begun>;
  renew(digest: string, mark: string): Promise<void>;
  finish(digest: string, mark: string, entry: { bodyDigest: string; sealed: string }): Promise<void>;
  forget(digest: string, mark: string): Promise<void>;
};

const changeMark = loadScript("change-mark", import.meta.url);

const begin = async (redis: RedisConnection, key: string, entry: Entry): Promise<Begun> => {
  const mark = JSON.stringify(entry);
  if (await orUnavailable(redis.set(key, mark, "EX", pendingSeconds, "NX"))) return { kind: "fresh", mark };
  const text = await orUnavailable(redis.get(key));
  if (!text) return { kind: "running" }; // it has just expired; the caller's next attempt begins a new run
  const known = Entry.parse(JSON.parse(text));
  if (known.by !== undefined && known.by === entry.by) return { kind: "fresh", mark };
  if (known.bodyDigest !== entry.bodyDigest) return { kind: "otherBody" };
  if (known.isTooLong) return { kind: "notKept" };
  return known.sealed === undefined ? { kind: "running" } : { kind: "replay", sealed: known.sealed };
};

/** Answers in this Redis. Every call throws `unavailable` when Redis does not answer. */
export const createIdempotentAnswers = (redis: RedisConnection): IdempotentAnswers => {
  const change = (digest: string, mark: string, next: string, seconds: number): Promise<unknown> =>
    orUnavailable(runScript(redis, changeMark, [idempotencyKey(digest)], [mark, next, seconds]));
  return {
    renewMs,
    begin(digest, bodyDigest) {
      const entry: Entry = { bodyDigest, by: randomUUID() };
      return retryBriefly(() => begin(redis, idempotencyKey(digest), entry));
    },
    async renew(digest, mark) {
      await change(digest, mark, mark, pendingSeconds);
    },
    async finish(digest, mark, { bodyDigest, sealed }) {
      const entry: Entry = { bodyDigest, ...(sealed.length > longestKept ? { isTooLong: true } : { sealed }) };
      const text = JSON.stringify(entry);
      await retryBriefly(() => change(digest, mark, text, keptSeconds));
    },
    async forget(digest, mark) {
      await retryBriefly(() => change(digest, mark, "", 0));
    },
  };
};
