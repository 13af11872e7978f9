/** Requests that are repeated with the same `Idempotency-Key`: many at once, with large answers, over a broken connection. */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AppError } from "../../src/errors.ts";
import { replayAnswer } from "../../src/http/replay-answer.ts";
import { createIdempotentAnswers, longestKept } from "../../src/redis/idempotent-answers.ts";
import { newId } from "../../src/services/objects/new-id.ts";
import { type LeaseParts, silent, startLeaseParts } from "../support/lease-parts.ts";

let parts: LeaseParts;
beforeAll(async () => {
  parts = await startLeaseParts();
});
afterAll(() => parts[Symbol.asyncDispose]());

type Answer = { status: number; body: unknown };

const ask = (key: string, work: () => Promise<Answer>): Promise<Answer> => {
  const repeatable = { key, bearer: "key", operation: "POST /x", body: {} };
  return replayAnswer(repeatable, { answers: createIdempotentAnswers(parts.redis), log: silent }, work);
};
/** Repeats the request as the SDK does while the first one runs. */
const askUntilAnswered = async (key: string, work: () => Promise<Answer>): Promise<Answer> => {
  for (;;) {
    const answer = await ask(key, work).catch((error: unknown) => error);
    if (!(answer instanceof AppError) || answer.code !== "idempotency_in_progress") return answer as Answer;
    await sleep(10);
  }
};

// HTTP-21
test("fifty at once with one key take one browser, and all get the same session", async () => {
  const [key, poolUid] = [newId(), newId()];
  for (let browser = 0; browser < 3; browser++) await parts.addBrowser(poolUid);
  const acquire = async (): Promise<Answer> => {
    const outcome = await parts.store.take(poolUid, { session: newId(), channel: "none", request: "{}" });
    if (outcome.kind !== "granted") throw new Error(outcome.kind);
    return { status: 200, body: outcome.lease.session };
  };
  const answers = await Promise.all(Array.from({ length: 50 }, () => askUntilAnswered(key, acquire)));
  expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
  expect(await parts.store.counts(poolUid)).toEqual({ acquired: 1, available: 2 });
});

// LIMIT-12
test("a large answer that compresses well is kept, and a larger one is a conflict and not made twice", async () => {
  const large = {
    status: 201,
    body: { id: "a", list: Array.from({ length: 50_000 }, (_, i) => `https://h${i}.example`) },
  };
  const shrinking = newId();
  await ask(shrinking, async () => large);
  expect(await ask(shrinking, () => Promise.reject(new Error("twice")))).toEqual(large);

  const tooLarge = newId();
  const noise = { status: 201, body: randomBytes(longestKept).toString("base64") };
  expect(await ask(tooLarge, async () => noise)).toEqual(noise);
  await expect(ask(tooLarge, () => Promise.reject(new Error("twice")))).rejects.toMatchObject({ code: "conflict" });
});

test("a connection that breaks while a request begins or ends fails no call and loses no answer", async () => {
  for (let round = 0; round < 15; round++) {
    const [key, body] = [newId(), round];
    setTimeout(() => parts.cut(), Math.random() * 3);
    expect(await ask(key, async () => ({ status: 200, body }))).toEqual({ status: 200, body });
    expect(await ask(key, () => Promise.reject(new Error("twice")))).toEqual({ status: 200, body });
  }
});
