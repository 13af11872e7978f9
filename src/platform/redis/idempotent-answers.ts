/**
 * Answers of requests with an `Idempotency-Key`, kept for a day (HTTP-21).
 *
 *   (none) ──begin──► pending ──finish──► done (replayed)
 *                      │  ▲ renewed while the request runs; expires within 30 s when its replica dies
 *                      └──forget──► (none)   a retry may get another answer: this was a server error, or the caller hung up
 *
 * A caller gets its answer while that is being kept, and a repetition that comes in this moment waits for it
 * (core/http/answer-once.ts).
 *
 * A run of a request changes only its own mark, or a mark that Redis has lost. When Redis has lost the mark and another
 * run has begun since, this run leaves the other run's mark alone.
 *
 * What ends a run is repeated through an outage of Redis until the mark expires by itself: else the repetitions of a
 * request that an outage has failed would wait for that.
 *
 * Redis' memory is bounded: of an answer that is too large Redis keeps only that the request was carried out. Each run
 * charges its bytes to its holders, the API key and the project, which may each hold so many. A run reserves room for
 * an usual answer before it begins, so that answer is kept for the whole day; when a larger one has no room, it is as
 * one that is too large.
 */
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { createBackgroundRetries } from "./background-retries.ts";
import type { RedisConnection } from "./connection.ts";
import { idempotencyKey, keptBytesKey } from "./keys.ts";
import { orUnavailable, retryBriefly } from "./or-unavailable.ts";
import { loadScript, runScript } from "./script.ts";

const keptSeconds = 24 * 60 * 60;
const pendingSeconds = 30;

/** Runs that may wait for Redis at a time, to end. Further ones try once, and then leave their marks to expire. */
const mostEnding = 1000;

/** How often a running request renews its mark, ms. */
const renewMs = 10_000;

/** Longest answer that is kept, characters; far above a session or a pool with a Chrome policy of some size. */
export const longestKept = 256 * 1024;

/** What a run reserves, bytes: room for the answers to almost all requests. */
const reservedBytes = 4096;

/** What Redis needs for an answer besides its text, bytes. */
const overheadBytes = 400;

/** Who is charged for an answer: `id` of a key or a project, and the bytes that it may hold. */
export type AnswerHolder = { id: string; mostBytes: number };

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
  /** Reserves room for the answer of a run; false when a holder has none. Then call `forget` without holders. */
  reserve(holders: readonly AnswerHolder[]): Promise<boolean>;
  renew(digest: string, mark: string): Promise<void>;
  /** Keeps the answer and charges its holders for what it needs instead of what was reserved. */
  finish(
    digest: string,
    mark: string,
    entry: { bodyDigest: string; sealed: string | Promise<string>; holders: readonly AnswerHolder[] },
  ): Promise<void>;
  /** `holders`: those with room reserved; they get it back. */
  forget(digest: string, mark: string, holders?: readonly AnswerHolder[]): Promise<void>;
  /**
   * Resolves when no `finish` and no `forget` is under way: callers don't wait for them, a process that stops does.
   * None is tried again after `withinMs`.
   */
  drain(withinMs: number): Promise<void>;
};

const changeMark = loadScript("change-mark", import.meta.url);
const chargeBytes = loadScript("charge-bytes", import.meta.url);

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
  /** Where an answer of Redis is lost, the bytes count twice, or are given back twice, for a day. */
  const chargeOne = async ({ id, mostBytes }: AnswerHolder, bytes: number): Promise<boolean> => {
    const argv = [bytes, mostBytes, keptSeconds / 3600];
    return (await retryBriefly(() => orUnavailable(runScript(redis, chargeBytes, [keptBytesKey(id)], argv)))) === 1;
  };
  const retries = createBackgroundRetries();
  const untilExpired = (work: () => Promise<void>): Promise<void> =>
    retries.add(work, retries.size() < mostEnding ? { withinMs: pendingSeconds * 1000 } : { tries: 1 });
  const giveBack = (holders: readonly AnswerHolder[], bytes: number): Promise<unknown> =>
    Promise.all(holders.map((holder) => untilExpired(async () => void (await chargeOne(holder, -bytes)))));
  /**
   * Charges all holders or none. They may be on different servers of a Redis Cluster, so each takes a script of its
   * own.
   */
  const charge = async (holders: readonly AnswerHolder[], bytes: number): Promise<boolean> => {
    const results = await Promise.allSettled(holders.map((holder) => chargeOne(holder, bytes)));
    const charged = holders.filter((_holder, i) => results[i]?.status === "fulfilled" && results[i].value);
    if (charged.length === holders.length) return true;
    const givenBack = giveBack(charged, bytes);
    const failed = results.find((result) => result.status === "rejected");
    if (failed) {
      givenBack.catch(() => undefined);
      throw failed.reason;
    }
    await givenBack;
    return false;
  };
  /** The text that is kept of an answer. Charges the holders for it. */
  const chargedText = async (bodyDigest: string, sealed: string, holders: readonly AnswerHolder[]): Promise<string> => {
    const moreBytes = sealed.length + overheadBytes - reservedBytes;
    const isKept = sealed.length <= longestKept && (await charge(holders, moreBytes));
    if (!isKept) await charge(holders, overheadBytes - reservedBytes);
    const entry: Entry = { bodyDigest, ...(isKept ? { sealed } : { isTooLong: true }) };
    return JSON.stringify(entry);
  };
  const forget: IdempotentAnswers["forget"] = async (digest, mark, holders = []) => {
    await untilExpired(async () => void (await change(digest, mark, "", 0)));
    await giveBack(holders, reservedBytes);
  };
  return {
    renewMs,
    reserve: (holders) => charge(holders, reservedBytes),
    async begin(digest, bodyDigest) {
      const entry: Entry = { bodyDigest, by: randomUUID() };
      try {
        return await retryBriefly(() => begin(redis, idempotencyKey(digest), entry));
      } catch (error) {
        // Redis may have made the mark all the same.
        forget(digest, JSON.stringify(entry)).catch(() => undefined);
        throw error;
      }
    },
    async renew(digest, mark) {
      await change(digest, mark, mark, pendingSeconds);
    },
    async finish(digest, mark, { bodyDigest, sealed, holders }) {
      let text: string | undefined;
      await untilExpired(async () => {
        text ??= await chargedText(bodyDigest, await sealed, holders);
        await change(digest, mark, text, keptSeconds);
      });
    },
    forget,
    drain: retries.drain,
  };
};
