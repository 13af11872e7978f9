import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newId } from "../../../src/core/objects/new-id.ts";
import { createItemEvents, type ItemEvent, type ItemEvents } from "../../../src/features/vaults/items/item-events.ts";
import { createLogger } from "../../../src/platform/base/log.ts";
import { connectRedis, type RedisConnection, whenReady } from "../../../src/platform/redis/connection.ts";
import { createLocks } from "../../../src/platform/redis/locks.ts";
import { sharedServers } from "../../support/control-plane.ts";

let redis: RedisConnection;
let events: ItemEvents;
beforeAll(async () => {
  redis = connectRedis((await sharedServers()).redisUrl, createLogger("warn", "test"));
  await whenReady(redis, 10_000);
  events = createItemEvents(redis);
});
afterAll(() => redis?.disconnect());

const event = (outcome?: string): ItemEvent => ({
  type: "fill",
  item: "shop",
  actor: { id: "key", name: "ci" },
  ...(outcome && { outcome }),
});
const never = new AbortController().signal;
const all = { limit: 100, waitMs: 0 };

describe("events of an item", () => {
  // ITEM-34
  test("are read oldest first, after a known one, up to a limit", async () => {
    const item = newId();
    for (const outcome of ["one", "two", "three"]) await events.append(item, event(outcome));
    const [one, two, three] = await events.read(item, all, never);
    expect([one, two, three].map((read) => read?.outcome)).toEqual(["one", "two", "three"]);
    expect(one).toEqual({ ...event("one"), id: one?.id, time: expect.stringMatching(/^\d{4}-.*Z$/) });
    expect(await events.read(item, { ...all, after: one?.id, limit: 1 }, never)).toEqual([two]);
    expect(await events.read(item, { ...all, after: three?.id }, never)).toEqual([]);
    expect(await events.read(newId(), all, never)).toEqual([]);
  });

  // ITEM-34
  test("wake a caller that waits for them", async () => {
    const item = newId();
    const reading = events.read(item, { limit: 10, waitMs: 30_000 }, never);
    await events.append(item, event("late"));
    expect(await reading).toMatchObject([{ outcome: "late" }]);
  });

  test("are waited for no longer than the caller stays", async () => {
    const gone = new AbortController();
    const reading = events.read(newId(), { limit: 10, waitMs: 30_000 }, gone.signal);
    gone.abort(new Error("the caller is gone"));
    await expect(reading).rejects.toThrow("the caller is gone");
  });

  test("are kept about a thousand at a time, and for a limited time", async () => {
    const item = newId();
    for (let i = 0; i < 30; i++) await Promise.all(Array.from({ length: 50 }, () => events.append(item, event())));
    const key = `bp:{${item}}:item_events`;
    expect(await redis.xlen(key)).toBeLessThan(1200);
    expect(await redis.xlen(key)).toBeGreaterThanOrEqual(1000);
    expect(await redis.ttl(key)).toBeGreaterThan(24 * 60 * 60);
  });

  // ITEM-34, ITEM-40
  test("of refused fills are read with the others in their order, and a flood of them pushes no other event out", async () => {
    const item = newId();
    await events.append(item, { ...event(), type: "created" });
    await events.append(item, event("completed"));
    for (let i = 0; i < 30; i++)
      await Promise.all(
        Array.from({ length: 50 }, () => events.append(item, event("field_unavailable"), { isRefusal: true })),
      );
    await events.append(item, event("unknown"));
    const read: Awaited<ReturnType<ItemEvents["read"]>> = [];
    for (let after: string | undefined; ; after = read.at(-1)?.id) {
      const page = await events.read(item, { ...all, after }, never);
      if (page.length === 0) break;
      read.push(...page);
    }
    const others = read.filter(({ outcome }) => outcome !== "field_unavailable");
    expect(others.map(({ type, outcome }) => outcome ?? type)).toEqual(["created", "completed", "unknown"]);
    expect([read[0], read[1], read.at(-1)]).toEqual(others);
    expect(new Set(read.map(({ id }) => id)).size).toBe(read.length);
    expect(read.length).toBeGreaterThanOrEqual(200);
    expect(read.length).toBeLessThan(400);
    const key = `bp:{${item}}:item_refusals`;
    expect(await redis.xlen(key)).toBe(read.length - others.length);
    expect(await redis.ttl(key)).toBeGreaterThan(24 * 60 * 60);
  });

  // ITEM-36
  test("hold what an event may contain and nothing else", async () => {
    const item = newId();
    await events.append(item, { ...event(), value: "canary" } as ItemEvent);
    await expect(events.append(item, { ...event(), outcome: "Wrong: canary" })).rejects.toThrow();
    expect(JSON.stringify(await redis.xrange(`bp:{${item}}:item_events`, "-", "+"))).not.toContain("canary");
  });
});

describe("a lock", () => {
  test("has one holder at a time for the same name, across replicas", async () => {
    const [a, b] = [createLocks(redis), createLocks(redis)];
    const what = ["vault", newId()];
    let running = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      running += 1;
      most = Math.max(most, running);
      await redis.ping();
      running -= 1;
    };
    await Promise.all(Array.from({ length: 20 }, (_, i) => (i % 2 ? a : b).hold(what, work)));
    expect(most).toBe(1);
  });

  test("does not wait for a lock of another name", async () => {
    const locks = createLocks(redis);
    const id = newId();
    expect(await locks.hold(["a", id], () => locks.hold(["b", id], async () => "both"))).toBe("both");
  });

  test("is released after the work, also when that fails", async () => {
    const locks = createLocks(redis);
    const what = [newId()];
    await expect(locks.hold(what, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(await locks.hold(what, async () => "next")).toBe("next");
  });
});
