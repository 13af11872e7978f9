/**
 * The scripts in Redis serve the recorded calls, and the methods that call them make these calls and understand the
 * answers. docs/contracts.md says when an example changes.
 */
import type { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startRedisServer } from "../support/redis-servers.ts";
import {
  at,
  expectedBetween,
  type Hearing,
  listenOn,
  momentOf,
  readDeep,
  readState,
  writeState,
} from "./redis-state.ts";
import { replayed } from "./script-callers.ts";
import { type ScriptCall, type Stored, scriptExamples, scriptNames, scriptOf } from "./script-examples.ts";

const examples = scriptExamples();

describe("in Redis", () => {
  const stack = new AsyncDisposableStack();
  let redis: Redis;
  let hearing: Hearing;
  beforeAll(async () => {
    const server = stack.use(await startRedisServer(['save ""']));
    redis = server.admin();
    hearing = await listenOn(server.admin);
  });
  afterAll(() => stack.disposeAsync());
  beforeEach(() => redis.flushall());

  const withoutExpiry = (state: Record<string, Stored>) =>
    Object.fromEntries(Object.entries(state).map(([key, { expires: _, ...stored }]) => [key, stored]));

  const withChanges = (state: Record<string, Stored>, changes: ScriptCall["after"] = {}): Record<string, Stored> =>
    Object.fromEntries(
      Object.entries({ ...state, ...changes }).flatMap(([key, stored]) => (stored === null ? [] : [[key, stored]])),
    );

  /** Of each key whose life is bounded. A second may have begun meanwhile, or some on a busy machine. */
  const checkExpiry = (real: Record<string, Stored>, wanted: Record<string, Stored>, tookSeconds: number): void => {
    for (const [key, { expires }] of Object.entries(wanted)) {
      const seconds = real[key]?.expires;
      expect(seconds === undefined, `${key} goes by itself`).toBe(expires === undefined);
      if (expires === undefined || seconds === undefined) continue;
      expect(seconds, `the life of ${key}`).toBeLessThanOrEqual(expires);
      expect(seconds, `the life of ${key}`).toBeGreaterThanOrEqual(expires - 1 - tookSeconds);
    }
  };

  test.each(examples)("$title", async ({ script, keys, argv, before, ...wanted }) => {
    const from = await momentOf(redis);
    await writeState(redis, before, from);
    const stored = await readState(redis);
    const args = (at(argv, from) as (string | number)[]).map(String);
    const { made: answer, told } = await hearing.during(wanted.listening ?? [], () =>
      redis.eval(scriptOf(script).text, keys.length, ...keys, ...args),
    );
    const after = await readState(redis);
    const to = await momentOf(redis);
    expect(readDeep(answer)).toEqual(expectedBetween(readDeep(wanted.answer), from, to));
    const kept = withChanges(stored, wanted.after);
    expect(readDeep(withoutExpiry(after))).toEqual(expectedBetween(readDeep(withoutExpiry(kept)), from, to));
    expect(readDeep(told)).toEqual(expectedBetween(readDeep(wanted.told ?? []), from, to));
    checkExpiry(after, kept, Math.ceil((to.ms - from.ms) / 1000));
  });
});

describe("in a replica", () => {
  const now = { ms: 1_800_000_000_000, run: "a-run-of-the-server" };
  const called = examples.flatMap((example) => (example.call ? [{ ...example, call: example.call }] : []));

  test.each(called)("$title", async (example) => {
    const { calls, result } = await replayed(example, now);
    expect(calls[0]?.keys).toEqual(example.keys);
    expect(calls[0]?.argv).toEqual(expectedBetween(example.argv, now, now));
    expect(readDeep(result)).toEqual(expectedBetween(readDeep(example.result ?? null), now, now));
  });
});

test("every script has an example", () => {
  expect([...new Set(examples.map(({ script }) => script))].sort()).toEqual([...scriptNames].sort());
});
