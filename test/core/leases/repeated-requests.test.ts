/**
 * Requests that are repeated with the same `Idempotency-Key`: many at once, with large answers, over a broken
 * connection.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { answerOnce } from "../../../src/core/http/answer-once.ts";
import { newId } from "../../../src/core/objects/new-id.ts";
import { AppError } from "../../../src/platform/base/errors.ts";
import { connectRedis, whenReady } from "../../../src/platform/redis/connection.ts";
import {
  type AnswerHolder,
  createIdempotentAnswers,
  longestKept,
} from "../../../src/platform/redis/idempotent-answers.ts";
import { keptBytesKey } from "../../../src/platform/redis/keys.ts";
import { sharedServers } from "../../support/control-plane.ts";
import { eventually } from "../../support/eventually.ts";
import { type LeaseParts, silent, startLeaseParts } from "../../support/lease-parts.ts";

let parts: LeaseParts;
beforeAll(async () => {
  parts = await startLeaseParts();
});
afterAll(() => parts[Symbol.asyncDispose]());

type Answer = { status: number; body: unknown };

const limits = {
  refusal: (_limit: string, message: string, retryAfterSeconds: number) =>
    new AppError("rate_limited", message, { retryAfterSeconds }),
};
const { signal } = new AbortController();
const ask = (key: string, work: () => Promise<Answer>, holders: AnswerHolder[] = []): Promise<Answer> => {
  const repeatable = { key, credential: "key", operation: "POST /x", body: {}, holders, signal };
  return answerOnce(repeatable, { answers: createIdempotentAnswers(parts.redis), limits, log: silent }, work);
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
  const answers = await Promise.all(Array.from({ length: 50 }, () => ask(key, acquire)));
  expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
  expect(await parts.store.counts(poolUid)).toEqual({ acquired: 1, available: 2 });
});

// HTTP-21
test("a repetition waits for the first run, begins one of its own when that fails, and stops with its caller", async () => {
  const key = newId();
  const first = Promise.withResolvers<Answer>();
  const begun = Promise.withResolvers<void>();
  const running = ask(key, () => {
    begun.resolve();
    return first.promise;
  });
  await begun.promise;
  const repeated = ask(key, () => Promise.reject(new Error("twice")));
  const gone = new AbortController();
  const left = answerOnce(
    { key, credential: "key", operation: "POST /x", body: {}, holders: [], signal: gone.signal },
    { answers: createIdempotentAnswers(parts.redis), limits, log: silent },
    () => Promise.reject(new Error("twice")),
  );
  // Longer than an answer takes to be kept.
  await sleep(1500);
  gone.abort(new Error("gone"));
  await expect(left).rejects.toThrow("gone");
  first.resolve({ status: 201, body: "one" });
  expect(await Promise.all([running, repeated])).toEqual(Array(2).fill({ status: 201, body: "one" }));

  const failing = newId();
  const fails = Promise.withResolvers<Answer>();
  const failed = ask(failing, () => fails.promise);
  const next = ask(failing, async () => ({ status: 200, body: "two" }));
  fails.resolve({ status: 503, body: "none" });
  expect(await failed).toMatchObject({ status: 503 });
  expect([await next, await ask(failing, () => Promise.reject(new Error("twice")))]).toEqual(
    Array(2).fill({ status: 200, body: "two" }),
  );
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
    // One break a round: a call outlives one, and a late timer would add its own to the next round's.
    const cut = sleep(Math.random() * 3).then(() => parts.cut());
    expect(await ask(key, async () => ({ status: 200, body }))).toEqual({ status: 200, body });
    expect(await ask(key, () => Promise.reject(new Error("twice")))).toEqual({ status: 200, body });
    await cut;
    await whenReady(parts.redis, 10_000);
  }
});

describe("the room of a holder", () => {
  const answer = (bytes: number): Answer => ({ status: 201, body: randomBytes(bytes).toString("base64") });
  const twice = (): Promise<Answer> => Promise.reject(new Error("twice"));

  // LIMIT-15
  test("is for so many answers; then a new request is refused, nothing is done, and idempotent answers stay", async () => {
    const holders = [{ id: newId(), mostBytes: 20_000 }];
    const keys = Array.from({ length: 30 }, newId);
    const outcomes: string[] = [];
    for (const key of keys)
      outcomes.push(await ask(key, async () => answer(100), holders).then(String, (error) => error.code));
    const kept = outcomes.indexOf("rate_limited");
    expect(kept).toBeGreaterThan(15);
    expect(new Set(outcomes.slice(kept))).toEqual(new Set(["rate_limited"]));
    let isDone = false;
    await expect(
      ask(
        keys.at(-1) ?? "",
        async () => {
          isDone = true;
          return answer(1);
        },
        holders,
      ),
    ).rejects.toMatchObject({ code: "rate_limited", retryAfterSeconds: 60 });
    expect(isDone).toBe(false);
    for (const key of keys.slice(0, kept)) expect(await ask(key, twice, holders)).toMatchObject({ status: 201 });
    expect(await ask(newId(), async () => answer(100), [{ id: newId(), mostBytes: 20_000 }])).toMatchObject({
      status: 201,
    });
  });

  test("takes in usual answers; a large one that has no room left is not kept, and is never done twice", async () => {
    const holders = [{ id: newId(), mostBytes: 20_000 }];
    const key = newId();
    await ask(key, async () => answer(40_000), holders);
    await expect(ask(key, twice, holders)).rejects.toMatchObject({ code: "conflict" });
    const usual = newId();
    await ask(usual, async () => answer(1000), holders);
    expect(await ask(usual, twice, holders)).toMatchObject({ status: 201 });
  });

  test("comes back when a run keeps no answer", async () => {
    const holders = [{ id: newId(), mostBytes: 6000 }];
    for (let run = 0; run < 10; run++)
      expect(await ask(newId(), async () => ({ status: 503, body: {} }), holders)).toMatchObject({ status: 503 });
    expect(await ask(newId(), async () => answer(10), holders)).toMatchObject({ status: 201 });
  });

  test("is charged to none of two holders when one is full, also by many at once", async () => {
    const [full, wide] = [
      { id: newId(), mostBytes: 10_000 },
      { id: newId(), mostBytes: 1e9 },
    ];
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, () =>
        ask(newId(), async () => answer(10), [full, wide]).then(
          () => 1,
          () => 0,
        ),
      ),
    );
    expect(outcomes.filter((done) => done === 1).length).toBeGreaterThan(0);
    const charged = async ({ id }: AnswerHolder): Promise<number> =>
      Object.values(await parts.redis.hgetall(keptBytesKey(id))).reduce((sum, bytes) => sum + Number(bytes), 0);
    expect(await charged(full)).toBeLessThanOrEqual(10_000);
    expect(await charged(wide)).toBe(await charged(full));
    expect(await parts.redis.ttl(keptBytesKey(full.id))).toBeGreaterThan(24 * 3600);
  });

  test("forgets what a day ago was charged", async () => {
    const holder = { id: newId(), mostBytes: 10_000 };
    const hour = Math.floor(Date.now() / 3_600_000);
    await parts.redis.hset(keptBytesKey(holder.id), { [hour - 25]: 9000, [hour - 26]: 9000 });
    expect(await ask(newId(), async () => answer(10), [holder])).toMatchObject({ status: 201 });
    expect(Object.keys(await parts.redis.hgetall(keptBytesKey(holder.id)))).toEqual([String(hour)]);
  });
});

// HTTP-21
test("an answer does not wait until it is kept; a repetition at once gets it all the same, and a process that stops keeps it", async () => {
  const answers = createIdempotentAnswers(parts.redis);
  const keepsSlowly = Promise.withResolvers<void>();
  const slow = {
    ...answers,
    finish: async (...kept: Parameters<typeof answers.finish>) => {
      await keepsSlowly.promise;
      await answers.finish(...kept);
    },
  };
  const repeatable = { key: newId(), credential: "key", operation: "POST /x", body: {}, holders: [], signal };
  const answer = { status: 200, body: "one" };
  expect(await answerOnce(repeatable, { answers: slow, limits, log: silent }, async () => answer)).toEqual(answer);
  const repeated = answerOnce(repeatable, { answers, limits, log: silent }, () => Promise.reject(new Error("twice")));
  keepsSlowly.resolve();
  expect(await repeated).toEqual(answer);

  const last = { ...repeatable, key: newId() };
  await answerOnce(last, { answers, limits, log: silent }, async () => answer);
  await answers.drain(10_000);
  expect(await ask(last.key, () => Promise.reject(new Error("twice")))).toEqual(answer);
});

describe("an outage of Redis that outlives the run of a request", () => {
  const repeatable = () => ({ key: newId(), credential: "key", operation: "POST /x", body: {}, holders: [], signal });
  /** Longer than a request waits for Redis, and far shorter than a mark lives, ms. */
  const outageMs = 2500;
  const soonMs = 10_000;

  /** Runs a request whose Redis goes away before it ends; resolves when Redis is back. */
  const runInto = async (request: ReturnType<typeof repeatable>, answer: Answer): Promise<void> => {
    const { redisUrl } = await sharedServers();
    const redis = connectRedis(redisUrl, silent);
    await whenReady(redis, 10_000);
    const answers = createIdempotentAnswers(redis);
    onTestFinished(async () => {
      await answers.drain(0);
      redis.disconnect();
    });
    const cut = async (): Promise<Answer> => {
      redis.disconnect();
      return answer;
    };
    expect(await answerOnce(request, { answers, limits, log: silent }, cut)).toEqual(answer);
    await sleep(outageMs);
    await redis.connect();
  };
  const repeat = (request: ReturnType<typeof repeatable>, work: () => Promise<Answer>): Promise<Answer> =>
    answerOnce(
      { ...request, signal: AbortSignal.timeout(soonMs) },
      { answers: createIdempotentAnswers(parts.redis), limits, log: silent },
      work,
    );

  // HTTP-21
  test("does not hold up the repetition of a failed request until its mark expires", async () => {
    const request = repeatable();
    await runInto(request, { status: 503, body: "none" });
    expect(await repeat(request, async () => ({ status: 200, body: "two" }))).toEqual({ status: 200, body: "two" });
  });

  // HTTP-21
  test("loses no answer", async () => {
    const request = repeatable();
    await runInto(request, { status: 200, body: "one" });
    expect(await repeat(request, () => Promise.reject(new Error("twice")))).toEqual({ status: 200, body: "one" });
  });

  test("leaves no mark of a run whose begin was not answered", async () => {
    const lost = async (): Promise<never> => {
      throw new Error("Connection is closed.");
    };
    const redis = new Proxy(parts.redis, {
      get: (target, name) => {
        if (name === "get") return lost;
        if (name === "set") return async (...call: Parameters<typeof target.set>) => target.set(...call).then(lost);
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const digest = newId();
    await expect(createIdempotentAnswers(redis).begin(digest, "body")).rejects.toMatchObject({ code: "unavailable" });
    await eventually(
      "the mark is gone",
      async () => (await createIdempotentAnswers(parts.redis).begin(digest, "body")).kind === "fresh",
      soonMs,
    );
  });
});
