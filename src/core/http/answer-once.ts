import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { deflateRaw, inflateRaw } from "node:zlib";
import { AppError } from "../../platform/base/errors.ts";
import type { Logger } from "../../platform/base/log.ts";
import type { AnswerHolder, Begun, IdempotentAnswers } from "../../platform/redis/idempotent-answers.ts";
import type { CallerLimits } from "../projects/caller-limits.ts";

type Repeatable = {
  /** The caller's `Idempotency-Key`. */
  key: string;
  /** The caller's API key or cookie; an idempotent answer can be read only with it and `key`. */
  credential: string;
  /** Method and path. */
  operation: string;
  body: unknown;
  /** The API key and the project, which are charged for the answer. */
  holders: readonly AnswerHolder[];
  /** Aborted when the caller is gone or the service is stopping. */
  signal: AbortSignal;
};

/** Room comes back hour by hour, as answers expire. The SDK waits no longer than this time, s. */
const noRoomRetrySeconds = 60;

/** Longest `Idempotency-Key`, characters. */
const maxKeyLength = 255;

const sha256 = (...parts: string[]): Buffer => createHash("sha256").update(parts.join("\0")).digest();

/**
 * Larger answers are compressed, bytes: it pays off for those with a large Chrome policy, not for the usual 1 or 2 KB.
 */
const packAboveBytes = 8 * 1024;
const pack = async (text: string): Promise<Buffer> => {
  const bytes = Buffer.from(text, "utf8");
  if (bytes.length <= packAboveBytes) return Buffer.concat([Buffer.of(0), bytes]);
  return Buffer.concat([Buffer.of(1), await promisify(deflateRaw)(bytes)]);
};
const unpack = async (packed: Buffer): Promise<string> => {
  const bytes = packed.subarray(1);
  return (packed[0] === 1 ? await promisify(inflateRaw)(bytes) : bytes).toString("utf8");
};

/**
 * Answers can contain an API key or a session's URL. Redis must not see them: AES-256-GCM with a key that only the
 * caller has.
 */
const seal = async (text: string, key: Buffer): Promise<string> => {
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  const packed = await pack(text);
  return Buffer.concat([nonce, cipher.update(packed), cipher.final(), cipher.getAuthTag()]).toString("base64");
};

const unseal = async (sealed: string, key: Buffer): Promise<string> => {
  const bytes = Buffer.from(sealed, "base64");
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, 12));
  decipher.setAuthTag(bytes.subarray(-16));
  return unpack(Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]));
};

/** Whether a repetition gets this answer again. Errors of the service are not kept, since a retry can succeed. */
const isFinal = ({ status }: { status: number }): boolean => status < 500 && status !== 429;

/** How long a repetition waits for a run to end, ms. The SDK gives up after a minute, too. */
const waitMs = 60_000;

/** Pauses between two looks at a run, ms: most answers come soon, and a browser takes seconds to start. */
const firstPauseMs = 20;
const longestPauseMs = 500;

/** Throws the reason of `signal` when the caller does not wait any more. */
const beginWhenKept = async (begin: () => Promise<Begun>, signal: AbortSignal): Promise<Begun> => {
  const untilMs = performance.now() + waitMs;
  let pauseMs = firstPauseMs;
  let begun = await begin();
  while (begun.kind === "running" && performance.now() < untilMs) {
    await sleep(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    pauseMs = Math.min(2 * pauseMs, longestPauseMs);
    begun = await begin();
  }
  return begun;
};

/**
 * Runs `work` once per key and body, and gives its first answer to every repetition for a day; a repetition waits up to
 * a minute for the first run. Throws `idempotency_in_progress` when that still runs then, `idempotency_key_reused` for
 * another body, `conflict` when the answer was too large to keep, and `rate_limited` when a holder has no room for
 * another answer.
 */
export const answerOnce = async <Answer extends { status: number }>(
  { key, credential, operation, body, holders, signal }: Repeatable,
  { answers, limits, log }: { answers: IdempotentAnswers; limits: Pick<CallerLimits, "refusal">; log: Logger },
  work: () => Promise<Answer>,
): Promise<Answer> => {
  if (key.length > maxKeyLength)
    throw new AppError("bad_request", `Idempotency-Key: at most ${maxKeyLength} characters`);
  const digest = sha256(credential, operation, key).toString("hex");
  const sealingKey = sha256("sealing", credential, key);
  // Keyed: a body can contain a password, which could be guessed from a plain hash in Redis.
  const bodyDigest = createHmac("sha256", sealingKey).update(JSON.stringify(body)).digest("hex");

  const begun = await beginWhenKept(() => answers.begin(digest, bodyDigest), signal);
  // What opens with the caller's own key was sealed below.
  if (begun.kind === "replay") return JSON.parse(await unseal(begun.sealed, sealingKey)) as Answer;
  if (begun.kind === "notKept")
    throw new AppError(
      "conflict",
      "this request was carried out; its answer was too large to keep, so read what it made",
    );
  if (begun.kind === "otherBody")
    throw new AppError("idempotency_key_reused", "this Idempotency-Key was used with another body");
  if (begun.kind === "running")
    throw new AppError("idempotency_in_progress", "the request with this Idempotency-Key still runs", {
      retryAfterSeconds: 1,
    });

  const { mark } = begun;
  const renewal = setInterval(() => void answers.renew(digest, mark).catch(() => undefined), answers.renewMs);
  let charged: readonly AnswerHolder[] = [];
  let answer: Answer | undefined;
  try {
    if (!(await answers.reserve(holders))) {
      const message = "no room to keep further answers for a day; send fewer requests with an Idempotency-Key, or none";
      throw limits.refusal("kept_answers", message, noRoomRetrySeconds);
    }
    charged = holders;
    answer = await work();
    return answer;
  } finally {
    clearInterval(renewal);
    const kept =
      answer && isFinal(answer)
        ? answers.finish(digest, mark, { bodyDigest, sealed: seal(JSON.stringify(answer), sealingKey), holders })
        : answers.forget(digest, mark, charged);
    // The caller does not wait for it. When its answer can't be kept, a repetition gets "in progress" until the mark
    // expires.
    kept.catch((err: unknown) => log.warn({ err }, "an answer could not be kept for repetitions"));
  }
};
