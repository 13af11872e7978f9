/** All scripts but those of take.test.ts, on a real Redis: what they answer and how they leave the pool. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Grants } from "../../../src/core/leases/grants.ts";
import type { LeaseStore } from "../../../src/core/leases/lease-store.ts";
import { createLeavingMarks } from "../../../src/core/leases/leaving-marks.ts";
import { followPoolChanges, type PoolChange } from "../../../src/core/leases/pool-channels.ts";
import { poolKey, poolKeys, poolsChannel } from "../../../src/core/leases/pool-keys.ts";
import { newId } from "../../../src/core/objects/new-id.ts";
import { connectRedis, whenReady } from "../../../src/platform/redis/connection.ts";
import { loadScript, runScript } from "../../../src/platform/redis/script.ts";
import { sharedServers } from "../../support/control-plane.ts";
import { eventually } from "../../support/eventually.ts";
import { leaseCalls } from "../../support/lease-calls.ts";
import { type LeaseParts, silent, startLeaseParts } from "../../support/lease-parts.ts";

let parts: LeaseParts;
let store: LeaseStore;
let replica: Grants;
let pool: string;

beforeAll(async () => {
  parts = await startLeaseParts();
  store = parts.store;
  replica = await parts.replica();
});
afterAll(() => parts[Symbol.asyncDispose]());
beforeEach(() => {
  pool = newId();
});

const { take, held, addBrowser, recordOf, stateOf, wakeOf } = leaseCalls(() => ({ parts, replica, pool }));

describe("release", () => {
  // LEASE-43
  test("for reuse: no caller gets the browser before it is offered", async () => {
    const browser = await addBrowser();
    const lease = await held("a");
    expect(await store.release(pool, "a", "releasing", "released")).toEqual(lease);
    expect((await take("b")).kind).toBe("waiting");
    const woken = wakeOf("b");
    expect(await store.offer(pool, lease)).toBe(true);
    expect(await woken).toMatchObject({ kind: "granted", lease: { browser, seq: 2 } });
  });

  test("without reuse: no caller gets the browser again", async () => {
    const browser = await addBrowser();
    const lease = await held("a");
    await store.release(pool, "a", "retired", "deleted");
    expect(await stateOf(browser)).toBe("retired");
    expect(await store.offer(pool, lease)).toBe(false);
    expect((await take("b")).kind).toBe("waiting");
  });

  test("keeps the ended session with its time and reason, and ends it only once", async () => {
    await addBrowser();
    await held("a");
    await store.release(pool, "a", "retired", "deleted");
    expect(await store.endedLease(pool, "a")).toMatchObject({ session: "a", reason: "deleted" });
    expect((await store.endedLease(pool, "a"))?.ended_at).toBeCloseTo(Date.now(), -4);
    expect(await store.lease(pool, "a")).toBeUndefined();
    expect(await store.release(pool, "a", "releasing", "released")).toBeUndefined();
  });
});

describe("messages to the operators", () => {
  const urgenciesDuring = async (work: () => Promise<unknown>): Promise<boolean[]> => {
    const urgencies: boolean[] = [];
    const subscriber = connectRedis((await sharedServers()).redisUrl, silent);
    await whenReady(subscriber, 10_000);
    // A message that is sent last tells when all before it have come.
    const last = newId();
    const hasCome = Promise.withResolvers<void>();
    const onChange = ({ poolUid, urgent }: PoolChange): void => {
      if (poolUid === last) hasCome.resolve();
      if (poolUid === pool) urgencies.push(urgent);
    };
    await followPoolChanges(subscriber, onChange, silent);
    await eventually("it is subscribed", async () => {
      const [, count] = (await parts.redis.pubsub("NUMSUB", poolsChannel)) as [string, number];
      return count > 0;
    });
    await work();
    await parts.redis.publish(poolsChannel, JSON.stringify({ pool: last, urgent: false }));
    await hasCome.promise;
    subscriber.disconnect();
    return urgencies;
  };

  test("report changed counts four times a second", async () => {
    const untilMs = performance.now() + 600;
    let changes = 0;
    const urgencies = await urgenciesDuring(async () => {
      for (; performance.now() < untilMs; changes += 2) {
        await take("a");
        await store.cancel(pool, "a");
      }
    });
    expect(changes).toBeGreaterThan(10);
    expect(urgencies.length).toBeGreaterThan(1);
    // However slow the machine: one message in each quarter of a second, after the first.
    expect(urgencies.length).toBeLessThanOrEqual(1 + Math.ceil((performance.now() - untilMs + 600) / 250));
  });

  test("report at once, and every time, that a browser waits for its deletion", async () => {
    await addBrowser();
    await addBrowser();
    const urgencies = await urgenciesDuring(async () => {
      for (const session of ["a", "b"]) {
        await held(session);
        await store.release(pool, session, "retired", "deleted");
      }
    });
    expect(urgencies.filter(Boolean)).toHaveLength(2);
  });

  const urgent: { when: string; prepare: () => Promise<() => Promise<unknown>> }[] = [
    {
      when: "a browser has refused its lease",
      async prepare() {
        await addBrowser();
        const lease = await held("a");
        return () => store.reject(pool, lease, "stale_fence");
      },
    },
    {
      when: "an agent has not confirmed an end",
      async prepare() {
        await addBrowser();
        const lease = await held("a");
        await store.release(pool, "a", "releasing", "released");
        return () => store.suspect(pool, lease, "unreachable");
      },
    },
    {
      when: "idle browsers are retired",
      async prepare() {
        await addBrowser();
        return () => store.retire(pool, { reason: "Surplus" });
      },
    },
    {
      when: "an idle browser must leave",
      async prepare() {
        const browser = await addBrowser();
        return () => createLeavingMarks(parts.redis).leave(pool, [browser], "NodeLeaving");
      },
    },
    {
      when: "an inspection retires a browser",
      async prepare() {
        const browser = await addBrowser();
        const examined = await parts.repairs.examine(pool, browser);
        const { since: _, ...before } = examined.record ?? expect.fail("it has a record");
        const record = { ...before, state: "retired" as const, reason: "gone" };
        return () => parts.repairs.repair(pool, examined, { record, former: "kept" });
      },
    },
    {
      when: "an inspection suspects a browser",
      async prepare() {
        const browser = await addBrowser();
        const examined = await parts.repairs.examine(pool, browser);
        const { since: _, ...before } = examined.record ?? expect.fail("it has a record");
        const record = { ...before, state: "suspect" as const, reason: "not_genuine" };
        return () => parts.repairs.repair(pool, examined, { record, former: "kept" });
      },
    },
    {
      when: "an epoch begins",
      async prepare() {
        await addBrowser();
        return () => parts.repairs.establish(pool, 2);
      },
    },
  ];
  test.each(urgent)("report at once that $when", async ({ prepare }) => {
    const call = await prepare();
    expect((await urgenciesDuring(call)).filter(Boolean)).toHaveLength(1);
  });

  test("report that a browser is gone with its lease or is offered, or that a caller has left, as a change of counts", async () => {
    const browser = await addBrowser();
    await addBrowser();
    await held("a");
    const other = await held("b");
    await store.release(pool, "b", "releasing", "released");
    expect(await urgenciesDuring(() => createLeavingMarks(parts.redis).leave(pool, [browser], "x"))).toEqual([]);
    const forget = () => parts.redis.hdel(poolKey(pool, "pool"), "told_at");
    await forget();
    expect(await urgenciesDuring(() => store.close(pool, browser, "browser_lost"))).toEqual([false]);
    await forget();
    expect(await urgenciesDuring(() => store.offer(pool, other))).toEqual([false]);
    await take("c");
    await take("d");
    await forget();
    expect(await urgenciesDuring(() => store.cancel(pool, "d"))).toEqual([false]);
  });
});

describe("a late end", () => {
  test("can't offer or suspect a browser that was leased again", async () => {
    const browser = await addBrowser();
    const old = await held("old");
    await store.release(pool, "old", "releasing", "released");
    await store.offer(pool, old);
    await held("new");
    await store.release(pool, "new", "releasing", "released");
    expect(await store.offer(pool, old)).toBe(false);
    expect(await store.suspect(pool, old, "x")).toBe(false);
    expect(await stateOf(browser)).toBe("releasing");
  });

  test("makes a browser suspect when its agent did not confirm the end, only once", async () => {
    const browser = await addBrowser();
    const lease = await held("a");
    await store.release(pool, "a", "releasing", "released");
    expect(await store.suspect(pool, lease, "unreachable")).toBe(true);
    expect(await store.suspect(pool, lease, "unreachable")).toBe(false);
    expect(await recordOf(browser)).toMatchObject({ state: "suspect", reason: "unreachable" });
  });
});

describe("retire", () => {
  test("takes only idle browsers, in the given order, up to the given number", async () => {
    const leased = await addBrowser();
    await held("a");
    const [first, second, third] = [await addBrowser(), await addBrowser(), await addBrowser()];
    const ids = [leased, "unknown", third, first, second];
    expect(await store.retire(pool, { reason: "Surplus", ids, count: 2 })).toEqual([third, first]);
    expect([await stateOf(leased), await stateOf(second), await stateOf(third)]).toEqual(["leased", "idle", "retired"]);
    expect(await store.retire(pool, { reason: "Surplus" })).toEqual([second]);
  });

  // POOL-13
  test("of all idle browsers takes those too that come back from a lease, which are never offered then", async () => {
    const browser = await addBrowser();
    const lease = await held("a");
    await store.release(pool, "a", "releasing", "released");
    expect(await store.retire(pool, { reason: "Surplus", ids: [browser] })).toEqual([]);
    expect(await store.retire(pool, { reason: "Flushed" })).toEqual([browser]);
    expect(await store.offer(pool, lease)).toBe(false);
    expect(await stateOf(browser)).toBe("retired");
  });

  test("of no browsers changes nothing", async () => {
    const browser = await addBrowser();
    expect(await store.retire(pool, { reason: "Surplus", ids: [], count: 1 })).toEqual([]);
    expect(await store.retire(pool, { reason: "Surplus", count: -1 })).toEqual([]);
    expect(await stateOf(browser)).toBe("idle");
  });

  test("with the same token happens once, and allows as many unpaced starts as it retired browsers", async () => {
    await addBrowser();
    const request = { reason: "Discarded", unpaced: true, token: "t1" };
    expect(await store.retire(pool, request)).toHaveLength(1);
    await addBrowser();
    expect(await store.retire(pool, request)).toEqual([]);
    expect((await store.snapshot(pool)).unpaced).toBe(1);
    expect(await store.retire(pool, { ...request, token: "t2" })).toHaveLength(1);
    expect((await store.snapshot(pool)).unpaced).toBe(2);
  });
});

test("unpaced starts are spent at most as often as they were allowed", async () => {
  expect(await store.spendUnpaced(pool, 3)).toBe(0);
  await Promise.all([addBrowser(), addBrowser()]);
  await store.retire(pool, { reason: "Discarded", unpaced: true });
  const spent = await Promise.all([
    store.spendUnpaced(pool, 1),
    store.spendUnpaced(pool, 2),
    store.spendUnpaced(pool, 2),
  ]);
  expect(spent.reduce((sum, count) => sum + count, 0)).toBe(2);
});

test.each(["release", "reject"] as const)(
  "a %s frees the session also where its browser has no record",
  async (call) => {
    const browser = await addBrowser();
    const lease = await held("a");
    await parts.redis.hdel(poolKey(pool, "browsers"), browser);
    if (call === "release") expect(await store.release(pool, "a", "releasing", "released")).toEqual(lease);
    else expect((await store.reject(pool, lease, "x")).kind).toBe("waiting");
    expect(await store.lease(pool, "a")).toBeUndefined();
    expect(await recordOf(browser)).toBeUndefined();
  },
);

test("a lease that is restored in place of another begins its own step, and the other has ended", async () => {
  const browser = await addBrowser();
  const lease = await held("a");
  const key = poolKey(pool, "browsers");
  const { since, ...before } = (await recordOf(browser)) ?? expect.fail("it has a record");
  await parts.redis.hset(key, browser, JSON.stringify({ ...before, since: since - 60_000 }));
  const examined = await parts.repairs.examine(pool, browser);
  const record = { ...before, session: "b", seq: 2 };
  const restored = { ...lease, session: "b", seq: 2 };
  expect(await parts.repairs.repair(pool, examined, { record, former: "released", restored })).toBe(true);
  expect((await recordOf(browser))?.since).toBeGreaterThanOrEqual(since);
  expect(await store.lease(pool, "b")).toEqual(restored);
  expect(await store.endedLease(pool, "a")).toMatchObject({ reason: "released" });
});

// LEASE-46
test("a session that is not found may live when another run of the server answers than that of the pool's epoch", async () => {
  await addBrowser();
  expect(await store.isRecovering(pool)).toBe(false);
  await parts.redis.hset(poolKey(pool, "pool"), "server", "another");
  expect(await store.isRecovering(pool)).toBe(true);
  expect((await store.snapshot(pool)).isSameServer).toBe(false);
});

describe("close", () => {
  test("ends the lease together with the browser, and removes the browser's record", async () => {
    const browser = await addBrowser();
    await held("a");
    expect(await store.close(pool, browser, "browser_crashed")).toMatchObject({ session: "a", browser });
    expect(await store.endedLease(pool, "a")).toMatchObject({ reason: "browser_crashed" });
    expect(await recordOf(browser)).toBeUndefined();
    expect(await store.close(pool, browser, "browser_lost")).toBeUndefined();
    expect(await store.endedLease(pool, "a")).toMatchObject({ reason: "browser_crashed" });
  });

  // LEASE-70
  test("keeps the record as a retired one when its pod is still to be judged, until another close", async () => {
    const browser = await addBrowser();
    await held("a");
    const keep = { keepsRecord: true };
    expect(await store.close(pool, browser, "browser_crashed", keep)).toMatchObject({ session: "a", browser });
    expect(await store.endedLease(pool, "a")).toMatchObject({ reason: "browser_crashed" });
    expect(await stateOf(browser)).toBe("retired");
    const idle = await addBrowser();
    expect(await store.close(pool, idle, "browser_lost", keep)).toBeUndefined();
    expect((await take("b")).kind).toBe("waiting");
    for (const each of [browser, idle]) {
      expect(await store.close(pool, each, "browser_lost")).toBeUndefined();
      expect(await recordOf(each)).toBeUndefined();
    }
    expect(await store.endedLease(pool, "a")).toMatchObject({ reason: "browser_crashed" });
  });

  test("of a suspect keeps its session, which holds another browser by then", async () => {
    const refused = await addBrowser();
    const lease = await held("a");
    await addBrowser();
    expect(await store.reject(pool, lease, "stale_fence")).toMatchObject({ kind: "granted" });
    expect(await store.close(pool, refused, "browser_lost")).toBeUndefined();
    expect(await store.lease(pool, "a")).toBeDefined();
  });

  test.each(["dropped", "browser_lost"] as const)(
    "or a repair (%s) of it leaves the lease of that other browser alone",
    async (former) => {
      const refused = await addBrowser();
      const lease = await held("a");
      const other = await addBrowser();
      expect(await store.reject(pool, lease, "stale_fence")).toMatchObject({ kind: "granted" });
      const examined = await parts.repairs.examine(pool, refused);
      const { since: _, session: __, ...before } = examined.record ?? expect.fail("it has a record");
      const record = { ...before, state: "retired" as const, reason: "gone" };
      expect(await parts.repairs.repair(pool, examined, { record, former })).toBe(true);
      expect(await stateOf(refused)).toBe("retired");
      expect(await store.lease(pool, "a")).toMatchObject({ browser: other });
      expect(await store.endedLease(pool, "a")).toBeUndefined();
    },
  );

  test("of an idle browser ends no session, and no caller gets the browser", async () => {
    const browser = await addBrowser();
    expect(await store.close(pool, browser, "browser_crashed")).toBeUndefined();
    expect((await take("a")).kind).toBe("waiting");
  });
});

describe("drain", () => {
  test("leaves a pool in use as it is, unless forced", async () => {
    await addBrowser();
    await held("a");
    expect(await store.drain(pool, { evenIfLeased: false })).toEqual({ leased: 1 });
    expect((await take("b")).kind).toBe("waiting");
    expect(await store.drain(pool, { evenIfLeased: true })).toEqual({ leased: 1 });
    expect(await take("c")).toEqual({ kind: "draining" });
    expect(await store.lease(pool, "a")).toBeDefined();
  });

  test("tells all waiting callers", async () => {
    const wakes = ["a", "b"].map((session) => wakeOf(session));
    for (const session of ["a", "b"]) await take(session);
    await store.drain(pool, { evenIfLeased: false });
    expect(await Promise.all(wakes)).toEqual([{ kind: "draining" }, { kind: "draining" }]);
    expect((await store.snapshot(pool)).waiting).toBe(0);
  });
});

test("a snapshot shows the pool at one moment, and a dropped pool is gone from Redis", async () => {
  await addBrowser();
  await store.keepConfig(pool, "hash", '{"headless":true}');
  await store.keepConfig(pool, "old", "{}");
  await store.dropConfigs(pool, ["old"]);
  await held("a");
  await take("b");
  expect(await store.snapshot(pool)).toMatchObject({
    browsers: [{ state: "leased", session: "a" }],
    waiting: 1,
    unpaced: 0,
    draining: false,
    configs: ["hash"],
  });
  expect(await store.config(pool, "hash")).toBe('{"headless":true}');
  await store.drop(pool);
  expect(await parts.redis.exists(...poolKeys(pool))).toBe(0);
});

// LEASE-22
test("ended sessions are kept for a day", async () => {
  const [yesterday, endedAt] = [Date.now() - 24 * 3_600_000 - 1000, poolKeys(pool)[7] ?? ""];
  await addBrowser();
  await addBrowser();
  await held("old");
  await store.release(pool, "old", "retired", "released");
  await parts.redis.zadd(endedAt, yesterday, "old");
  await held("new");
  await store.release(pool, "new", "retired", "released");
  expect(await store.endedLease(pool, "old")).toBeUndefined();
  expect(await store.endedLease(pool, "new")).toBeDefined();
});

test("each script includes the files that it needs", async () => {
  // A script that lacks an include fails only at run time, with a name that is nil.
  for (const name of [
    "take",
    "reject",
    "cancel",
    "release",
    "offer",
    "suspect",
    "retire",
    "leave",
    "stay",
    "close",
    "drain",
    "find-lost",
  ])
    expect(
      await runScript(
        parts.redis,
        loadScript(name, new URL("../../../src/core/leases/lease-store.ts", import.meta.url).href),
        poolKeys(newId()),
        ["x", "x", "0", "", ""],
      ),
    ).toBeDefined();
});
