/** The operator's loop over ended leases, on a Redis server of its own with a memory limit. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createEndedLeases } from "../../../src/core/leases/ended-leases.ts";
import { poolKey } from "../../../src/core/leases/pool-keys.ts";
import type { EndedDropReason } from "../../../src/core/metrics/operator-metrics.ts";
import type { BrowserPool } from "../../../src/core/model/pools/browser-pool.ts";
import { newId } from "../../../src/core/objects/new-id.ts";
import { type EndedLimits, keepEndedBounds } from "../../../src/core/pools/ended/keep-ended-bounds.ts";
import { memoryUse } from "../../../src/platform/redis/memory-use.ts";
import { eventually } from "../../support/eventually.ts";
import { type LeaseParts, silent, startLeaseParts } from "../../support/lease-parts.ts";
import { type RedisServer, startRedisServer } from "../../support/redis-servers.ts";

const unbounded: EndedLimits = { pool: { count: 1e6, bytes: 1e9 }, all: { count: 1e6, bytes: 1e9 } };

let server: RedisServer;
let parts: LeaseParts;
let pools: BrowserPool[];
let dropped: Record<EndedDropReason, number>;
let left: { count: number; bytes: number };
let stop: AbortController;
let running: Promise<void>;

beforeAll(async () => {
  server = await startRedisServer(["maxmemory-policy noeviction"]);
  parts = await startLeaseParts(`redis://127.0.0.1:${server.port}`);
});
afterAll(async () => {
  await parts[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});
beforeEach(() => {
  pools = [];
  dropped = { pool: 0, all: 0, memory: 0 };
  stop = new AbortController();
  running = Promise.resolve();
});
afterEach(async () => {
  stop.abort();
  await running;
  await server.admin().config("SET", "maxmemory", "0");
  await server.admin().flushall();
});

const addPool = async (namespace: string): Promise<string> => {
  const uid = newId();
  await parts.addBrowser(uid);
  const status = { leaseEpoch: 1 } as BrowserPool["status"];
  pools.push({ metadata: { name: uid, namespace, uid }, ...(status && { status }) } as BrowserPool);
  return uid;
};

/** Ended leases as the scripts write them; `agoMs`: of the youngest, each one is a second older than the next. */
const addEnded = async (uid: string, count: number, agoMs: number, bytes = 500): Promise<void> => {
  const nowMs = Date.now();
  const pipeline = parts.redis.pipeline();
  const text = "x".repeat(bytes - 250);
  for (let n = 0; n < count; n++)
    pipeline
      .hset(poolKey(uid, "ended"), `s${n}`, text)
      .zadd(poolKey(uid, "ended_at"), nowMs - agoMs - n * 1000, `s${n}`);
  await pipeline.hincrby(poolKey(uid, "pool"), "ended_bytes", count * bytes).exec();
};
const countOf = (uid: string): Promise<number> => parts.redis.zcard(poolKey(uid, "ended_at"));

/** A Redis that is busy with what was added may answer too late at first. */
const toldMemory = () => eventually("Redis tells its memory", async () => (await memoryUse(parts.redis))[0]);

const run = (endedLimits: EndedLimits = unbounded): void => {
  running = keepEndedBounds(
    {
      source: { list: () => pools },
      endedLeases: createEndedLeases(parts.redis),
      redisMemory: () => memoryUse(parts.redis),
      endedLimits,
      metrics: {
        ended: {
          dropped: (why, count) => {
            dropped[why] += count;
          },
          left: (now) => {
            left = now;
          },
          memory: () => undefined,
        },
      },
      log: silent,
      check: () => stop.signal.throwIfAborted(),
    },
    stop.signal,
  );
};
const minutesMs = (minutes: number): number => minutes * 60_000;

describe("the operator", () => {
  // LIMIT-25
  test("drops what a pool has beyond its bound, and tells the scripts the bound", async () => {
    const uid = await addPool("a");
    await addEnded(uid, 300, minutesMs(5));
    run({ ...unbounded, pool: { count: 100, bytes: 1e9 } });
    await eventually("100 are left", async () => (await countOf(uid)) === 100);
    expect(await parts.redis.zscore(poolKey(uid, "ended_at"), "s0")).not.toBeNull(); // the youngest
    expect(await parts.redis.hmget(poolKey(uid, "pool"), "ended_most", "ended_most_bytes")).toEqual([
      "100",
      "1000000000",
    ]);
    expect(dropped).toEqual({ pool: 200, all: 0, memory: 0 });
  });

  // LEASE-22
  test("drops what is a day old, also in a pool where no further lease ends", async () => {
    const uid = await addPool("a");
    await addEnded(uid, 20, 24 * minutesMs(60) - 10_000);
    run();
    await eventually("the old ones are gone", async () => (await countOf(uid)) <= 11);
    expect(await countOf(uid)).toBeGreaterThan(5);
  });

  // LIMIT-25
  test("drops what all pools have beyond their bound: from the project with most, and nothing of the others", async () => {
    const [mine, theirs, theirs2] = [await addPool("a"), await addPool("b"), await addPool("b")];
    await addEnded(mine, 100, minutesMs(5));
    await addEnded(theirs, 400, minutesMs(5));
    await addEnded(theirs2, 150, minutesMs(5));
    run({ ...unbounded, all: { count: 400, bytes: 1e9 } });
    await eventually("400 are left", () => left?.count === 400);
    expect([await countOf(mine), await countOf(theirs), await countOf(theirs2)]).toEqual([100, 150, 150]);
    expect(dropped).toEqual({ pool: 0, all: 250, memory: 0 });
  });

  // LIMIT-27
  test("makes room in a full Redis without a hand: from the pool that filled it, and then acquires work again", async () => {
    const [mine, theirs] = [await addPool("a"), await addPool("b")];
    await addEnded(mine, 100, minutesMs(5), 700);
    await addEnded(theirs, 20_000, minutesMs(5), 900);
    const { usedBytes } = await toldMemory();
    await server.admin().config("SET", "maxmemory", usedBytes - 1024);
    const take = () => parts.store.take(mine, { session: "new", channel: "none", request: "{}" });
    await expect(take()).rejects.toMatchObject({ details: [{ code: "redis_full" }] });
    run();
    await eventually("an acquire works", async () => (await take().catch(() => undefined))?.kind === "granted");
    await eventually("the memory is below the mark", async () => {
      const { usedBytes: used, limitBytes } = await toldMemory();
      return used < limitBytes * 0.85;
    });
    expect(await countOf(mine)).toBe(100);
    expect(await countOf(theirs)).toBeLessThan(20_000);
    expect(await countOf(theirs)).toBeGreaterThan(5000);
    expect(dropped.memory).toBeGreaterThan(0);
  });

  test("drops nothing while it must not write", async () => {
    const uid = await addPool("a");
    await addEnded(uid, 300, minutesMs(5));
    stop.abort();
    run({ ...unbounded, pool: { count: 1, bytes: 1e9 } });
    await running;
    expect(await countOf(uid)).toBe(300);
  });
});
