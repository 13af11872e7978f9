/** What is kept of a lease that has ended, and how much of it, on a real Redis. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createEndedLeases, type EndedLeases } from "../../../src/core/leases/ended-leases.ts";
import { poolKey } from "../../../src/core/leases/pool-keys.ts";
import { newId } from "../../../src/core/objects/new-id.ts";
import { endLease } from "../../support/ended-sessions.ts";
import { type LeaseParts, startLeaseParts } from "../../support/lease-parts.ts";

let parts: LeaseParts;
let ended: EndedLeases;
let pool: string;

beforeAll(async () => {
  parts = await startLeaseParts();
  ended = createEndedLeases(parts.redis);
});
afterAll(() => parts[Symbol.asyncDispose]());
beforeEach(async () => {
  pool = newId();
  await parts.addBrowser(pool);
});

const dayMs = 24 * 60 * 60 * 1000;
const minutesMs = (minutes: number): number => minutes * 60_000;
const end = (session: string, more: { request?: string; agoMs?: number } = {}) =>
  endLease(parts, pool, { session, ...more });
const endMany = async (count: number, agoMs: number, request?: string): Promise<void> => {
  for (let n = 0; n < count; n++) await end(`s${n}`, { agoMs: agoMs - n, ...(request && { request }) });
};
const kept = async (): Promise<string[]> => {
  const [inOrder, inHash] = await Promise.all([
    parts.redis.zrange(poolKey(pool, "ended_at"), "0", "-1"),
    parts.redis.hkeys(poolKey(pool, "ended")),
  ]);
  expect(inHash.toSorted()).toEqual(inOrder.toSorted());
  return inOrder;
};
const many = { count: 1e6, bytes: 1e9 };
const trim = (now = many, most = many) => ended.trim(pool, { most, now, steps: 1000 });

// LEASE-22
test("pages of what has ended are those before a time, the latest first, and follow each other without a gap", async () => {
  for (const [session, agoMs] of [
    ["a", 3000],
    ["b", 3000],
    ["c", 2000],
  ] as const)
    await end(session, { agoMs });
  const [atA = 0, atC = 0] = await Promise.all(
    ["a", "c"].map(async (session) => Number(await parts.redis.zscore(poolKey(pool, "ended_at"), session))),
  );
  await parts.redis.zadd(poolKey(pool, "ended_at"), atA, "b");
  const before = async (ms: number, part = { skip: 0, count: 10 }) =>
    (await ended.entries(pool, ms, part)).map(({ session, endedMs }) => [session, endedMs]);
  expect(await before(atC + 1)).toEqual([
    ["c", atC],
    ["b", atA],
    ["a", atA],
  ]);
  expect(await before(atC)).toEqual([
    ["b", atA],
    ["a", atA],
  ]);
  expect(await before(atA)).toEqual([]);
  expect(await before(atC + 1, { skip: 1, count: 1 })).toEqual([["b", atA]]);
});

describe("what is kept of an ended lease", () => {
  const request = {
    timeout_seconds: 600,
    max_session_seconds: 3600,
    pool: { id: newId(), uid: newId(), name: "shop" },
    project: "p",
    name: "order-1",
  };
  const stored = async (more: object): Promise<Record<string, unknown>> => {
    await end("a", { request: JSON.stringify({ ...request, ...more }) });
    return JSON.parse((await parts.store.endedLease(pool, "a"))?.request ?? "") as Record<string, unknown>;
  };

  // LIMIT-26
  test("is a few hundred bytes, with the whole request of a usual session", async () => {
    const report = { config: "0a1b2c", recipe: { hosts: [] } };
    const usual = { ...request, report, tags: { team: "shop", run: "4711" }, start_url: "https://shop.example/cart" };
    expect(await stored(usual)).toEqual(usual);
    const text = await parts.redis.hget(poolKey(pool, "ended"), "a");
    expect(text?.length).toBeLessThan(600);
  });

  // LIMIT-26
  test("leaves out the tags of a session that has many, and before them its start URL and telemetry", async () => {
    const tags = Object.fromEntries(Array.from({ length: 8 }, (_, n) => [`tag${n}`, "x".repeat(1000)]));
    const start_url = `https://shop.example/${"x".repeat(2000)}`;
    const telemetry = {
      browser: { control: { cdp: { excluded_methods: Array(60).fill("Input.dispatchMouseEvent") } } },
    };
    expect(await stored({ tags, start_url, telemetry })).toEqual(request);
    const text = await parts.redis.hget(poolKey(pool, "ended"), "a");
    expect(text?.length).toBeLessThan(600);
  });

  test("leaves out no more than it must", async () => {
    const tags = { team: "shop" };
    expect(await stored({ tags, start_url: `https://shop.example/${"x".repeat(2000)}` })).toEqual({ ...request, tags });
  });

  test("costs Redis about as much as is counted", async () => {
    for (let n = 0; n < 1000; n++) await end(newId(), { request: JSON.stringify(request) });
    const usage = (part: "ended" | "ended_at") => parts.redis.memory("USAGE", poolKey(pool, part), "SAMPLES", 0);
    const used = Number(await usage("ended")) + Number(await usage("ended_at"));
    const { bytes } = await trim();
    expect(bytes / used).toBeGreaterThan(0.85);
    expect(bytes / used).toBeLessThan(1.15);
  });
});

describe("ended leases", () => {
  // LEASE-22
  test("of more than a day go, those of the last day stay", async () => {
    await end("old", { agoMs: dayMs + 1000 });
    await end("younger", { agoMs: dayMs - 60_000 });
    await end("new");
    expect(await kept()).toEqual(["younger", "new"]);
  });

  test("of more than a day go also where no further lease ends", async () => {
    await endMany(3, dayMs + 5000);
    expect((await kept()).length).toBeGreaterThan(0); // the last one had nothing after it
    await trim();
    expect(await kept()).toEqual([]);
  });

  // LIMIT-25
  test("beyond the pool's count go when a further one ends, the oldest first", async () => {
    await trim(many, { count: 3, bytes: 1e9 });
    await endMany(5, minutesMs(10));
    await end("new");
    expect(await kept()).toEqual(["s3", "s4", "new"]);
  });

  // LIMIT-25
  test("beyond the pool's bytes go when a further one ends", async () => {
    await trim(many, { count: 1e6, bytes: 2000 });
    await endMany(20, minutesMs(10));
    const { bytes, count } = await trim();
    expect(bytes).toBeLessThanOrEqual(2000 + 700); // the last one aged after its own end
    expect(count).toBeLessThan(6);
  });

  test("stay for 20 seconds, whatever the bounds are: repeated calls and half-done steps ask for them", async () => {
    await end("old", { agoMs: 21_000 });
    await end("a", { agoMs: 15_000 });
    await end("b");
    expect(await trim({ count: 0, bytes: 0 })).toMatchObject({ dropped: 1, count: 2 });
    expect(await kept()).toEqual(["a", "b"]);
  });

  test("from before Redis' clock was set back go, too: their age says nothing", async () => {
    await end("a");
    await parts.redis.zincrby(poolKey(pool, "ended_at"), 3_600_000, "a");
    expect(await trim({ count: 0, bytes: 0 })).toMatchObject({ dropped: 1, count: 0 });
  });

  test("are dropped in steps, and counted down to nothing", async () => {
    await endMany(12, minutesMs(10));
    expect(await ended.trim(pool, { most: many, now: { count: 0, bytes: 0 }, steps: 5 })).toMatchObject({
      dropped: 5,
      count: 7,
    });
    expect(await trim({ count: 0, bytes: 0 })).toMatchObject({ dropped: 7, count: 0, bytes: 0 });
  });

  test("that Redis has from before it counted bytes are counted as nothing, never below", async () => {
    await endMany(3, minutesMs(10));
    await parts.redis.hdel(poolKey(pool, "pool"), "ended_bytes");
    expect(await trim({ count: 0, bytes: 0 })).toMatchObject({ dropped: 3, bytes: 0 });
  });

  test("of a session that a Redis with older data ends twice are counted once", async () => {
    await end("a", { request: "{}" });
    const { bytes } = await trim();
    await parts.redis.multi().hdel(poolKey(pool, "leases"), "a").exec();
    const lease = await parts.store.endedLease(pool, "a");
    const whole = { pod: "p", ticket: "1", channel: "c", ...lease };
    await parts.redis.hset(poolKey(pool, "leases"), "a", JSON.stringify(whole));
    await parts.store.release(pool, "a", "retired", "released");
    expect(await trim()).toMatchObject({ count: 1, bytes });
  });

  test("of a pool that Redis does not know are none, and no key is made for it", async () => {
    const unknown = newId();
    expect(await ended.trim(unknown, { most: many, now: many, steps: 10 })).toEqual({
      dropped: 0,
      count: 0,
      bytes: 0,
      server: "",
    });
    expect(await parts.redis.exists(poolKey(unknown, "pool"))).toBe(0);
  });
});
