/** Lists of sessions, on a real Redis: what a page has, and how little is read for it. */
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { createEndedLeases, type EndedLeases } from "../../../src/core/leases/ended-leases.ts";
import { poolKey } from "../../../src/core/leases/pool-keys.ts";
import type { Browser } from "../../../src/core/model/browsers/browser.ts";
import type { BrowserPool } from "../../../src/core/model/pools/browser-pool.ts";
import { newId } from "../../../src/core/objects/new-id.ts";
import type { Project } from "../../../src/core/projects/projects.ts";
import { listSessions, type SessionFilter } from "../../../src/core/sessions/list-sessions.ts";
import { endLease } from "../../support/ended-sessions.ts";
import { type LeaseParts, startLeaseParts } from "../../support/lease-parts.ts";

const project = { id: "p", namespace: "ns" } as Project;
const dayMs = 24 * 60 * 60 * 1000;

let parts: LeaseParts;
let pools: BrowserPool[];
let browsers: Browser[];
let endedLeases: EndedLeases;

beforeAll(async () => {
  parts = await startLeaseParts();
});
afterAll(() => parts[Symbol.asyncDispose]());
beforeEach(() => {
  pools = [];
  browsers = [];
  endedLeases = createEndedLeases(parts.redis);
});

const addPool = async (): Promise<string> => {
  const uid = newId();
  await parts.addBrowser(uid);
  pools.push({ metadata: { name: uid, namespace: "ns", uid } } as BrowserPool);
  return uid;
};
const requestOf = (uid: string, more: object = {}): string =>
  JSON.stringify({
    timeout_seconds: 60,
    max_session_seconds: 3600,
    pool: { id: uid, uid, name: `pool-${uid.slice(0, 4)}` },
    project: "p",
    ...more,
  });
const end = (uid: string, session: string, agoMs: number, more: object = {}) =>
  endLease(parts, uid, { session, agoMs, request: requestOf(uid, more) });

/** Ended leases as the scripts write them, many at once: one each ten seconds, the latest first. Returns their ids. */
const addMany = async (uid: string, count: number, more: (n: number) => object = () => ({})): Promise<string[]> => {
  const nowMs = Date.now();
  const sessions = Array.from({ length: count }, (_, n) => `s${String(n).padStart(17, "0")}${uid.slice(0, 6)}`);
  for (let from = 0; from < count; from += 2000) {
    const pipeline = parts.redis.pipeline();
    for (const [index, session] of sessions.slice(from, from + 2000).entries()) {
      const n = from + index;
      const ended_at = nowMs - n * 10_000;
      const lease = {
        browser: "b",
        address: "a:1",
        config: "c",
        epoch: 1,
        seq: n,
        created_at: ended_at - 500,
        ended_at,
      };
      const text = JSON.stringify({ ...lease, reason: "released", request: requestOf(uid, more(n)) });
      pipeline.hset(poolKey(uid, "ended"), session, text).zadd(poolKey(uid, "ended_at"), ended_at, session);
    }
    await pipeline.exec();
  }
  return sessions;
};
const addOnDemand = (status: Browser["status"]): string => {
  const [name, uid] = [newId(), newId()];
  const metadata = { name, namespace: "ns", uid, creationTimestamp: new Date().toISOString() };
  browsers.push({ metadata, spec: {}, ...(status && { status }) } as Browser);
  return name;
};
const reflector = <T>(list: () => T[]) => ({ list }) as never;
const list = async (filter: Partial<SessionFilter> & { offset?: number; limit?: number }) => {
  const deps = { store: parts.store, endedLeases, pools: reflector(() => pools), browsers: reflector(() => browsers) };
  const page = await listSessions({ status: "deleted", offset: 0, limit: 20, ...filter }, project, deps);
  return { ...page, ids: page.leases.map(({ session }) => session) };
};

describe("ended sessions", () => {
  // LEASE-52
  test("of several pools come by their end, the latest first, page by page and each once", async () => {
    const [one, two] = [await addPool(), await addPool()];
    const ends: [string, string, number][] = [];
    for (let n = 0; n < 23; n++) ends.push([n % 3 === 0 ? one : two, `e${n}`, 1_000_000 - n * 7000]);
    for (const [uid, session, agoMs] of ends) await end(uid, session, agoMs);
    const expected = ends.map(([, session]) => session).toReversed();
    for (const limit of [1, 4, 7, 23, 100]) {
      const seen: string[] = [];
      for (let offset = 0; offset < expected.length; offset += limit) {
        const { ids, hasMore } = await list({ offset, limit });
        expect(hasMore).toBe(offset + limit < expected.length);
        seen.push(...ids);
      }
      expect(seen).toEqual(expected);
    }
    expect(await list({ offset: 23 })).toMatchObject({ ids: [], hasMore: false });
    expect(await list({ offset: 1_000_000 })).toMatchObject({ ids: [], hasMore: false });
  });

  test("that ended in one millisecond come each once, too", async () => {
    const [one, two] = [await addPool(), await addPool()];
    for (let n = 0; n < 12; n++) await end(n % 2 === 0 ? one : two, `e${n}`, 1000);
    const sessions = await parts.redis.zrange(poolKey(one, "ended_at"), "0", "-1");
    for (const session of sessions) await parts.redis.zadd(poolKey(one, "ended_at"), 5_000_000, session);
    const seen: string[] = [];
    for (let offset = 0; offset < 12; offset += 5) seen.push(...(await list({ offset, limit: 5 })).ids);
    expect(seen.toSorted()).toEqual(Array.from({ length: 12 }, (_, n) => `e${n}`).toSorted());
  });

  test("that ended in one millisecond by the hundreds, too, in pages of few", async () => {
    const uid = await addPool();
    const ids = Array.from({ length: 120 }, (_, n) => `same-${n}`);
    for (const id of ids) await end(uid, id, 1000);
    for (const id of ids) await parts.redis.zadd(poolKey(uid, "ended_at"), 5_000_000, id);
    const seen: string[] = [];
    for (let offset = 0; offset < ids.length; offset += 7) seen.push(...(await list({ offset, limit: 7 })).ids);
    expect(seen.toSorted()).toEqual(ids.toSorted());
  });

  test("come after the active ones, and pages join both", async () => {
    const uid = await addPool();
    await parts.addBrowser(uid);
    for (let n = 0; n < 5; n++) await end(uid, `e${n}`, 100_000 - n * 1000);
    for (const session of ["a0", "a1"]) {
      await parts.store.take(uid, { session, channel: "none", request: requestOf(uid) });
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect((await list({ status: "active" })).ids).toEqual(["a1", "a0"]);
    const all = ["a1", "a0", "e4", "e3", "e2", "e1", "e0"];
    for (const [offset, limit] of [
      [0, 2],
      [0, 3],
      [1, 4],
      [2, 5],
      [5, 2],
      [0, 7],
    ] as const)
      expect(await list({ status: "all", offset, limit })).toMatchObject({
        ids: all.slice(offset, offset + limit),
        hasMore: offset + limit < all.length,
      });
  });

  test("of on-demand browsers are among them, also before the browser's status says so", async () => {
    const uid = await addPool();
    await end(uid, "pooled", 60_000);
    const at = (agoMs: number) => new Date(Date.now() - agoMs).toISOString();
    const over = addOnDemand({ phase: "Ended", endTime: at(30_000), conditions: [] });
    const just = addOnDemand({ phase: "Active", conditions: [] });
    addOnDemand({ phase: "Failed", conditions: [] });
    for (const { metadata } of browsers.slice(0, 2)) {
      await parts.addBrowser(metadata.uid);
      await end(metadata.uid, metadata.name, metadata.name === over ? 30_000 : 0, { on_demand: true });
    }
    expect((await list({})).ids).toEqual([just, over, "pooled"]);
    expect((await list({ limit: 1, offset: 1 })).ids).toEqual([over]);
  });

  test("are found by their exact id, by a part of a name and by tags", async () => {
    const uid = await addPool();
    await end(uid, "first", 3000, { name: "Order-17", tags: { team: "a" } });
    await end(uid, "second", 2000, { name: "order-18", tags: { team: "b" } });
    await end(uid, "third", 1000);
    expect((await list({ query: "first" })).ids).toEqual(["first"]);
    expect((await list({ query: "ORDER" })).ids).toEqual(["second", "first"]);
    expect((await list({ tags: { team: "a" } })).ids).toEqual(["first"]);
    expect((await list({ query: "order", tags: { team: "c" } })).ids).toEqual([]);
    expect(await list({ query: "order", limit: 1 })).toMatchObject({ ids: ["second"], hasMore: true, isCut: false });
    expect(await list({ query: "order", limit: 1, offset: 1 })).toMatchObject({ ids: ["first"], hasMore: false });
  });
});

describe("among 20,000 ended sessions", () => {
  const count = 20_000;

  // LEASE-52
  test("a page reads as many records as it has, wherever it is", async () => {
    const uid = await addPool();
    const sessions = await addMany(uid, count);
    const read = vi.spyOn(endedLeases, "read");
    const entries = vi.spyOn(endedLeases, "entries");
    for (const offset of [0, 7, 8000, 8600]) {
      read.mockClear();
      entries.mockClear();
      // A day has 8640 of them; scores beyond are those of a clock that was set.
      expect((await list({ offset, limit: 10 })).ids).toEqual(sessions.slice(offset, offset + 10));
      expect(read.mock.calls.map(([, ids]) => ids.length)).toEqual([10]);
      const asked = entries.mock.calls.reduce((sum, [, , { count: most }]) => sum + most, 0);
      expect(asked).toBeLessThan(30);
    }
    expect(await list({ offset: count - 5, limit: 10 })).toMatchObject({ ids: sessions.slice(-5), hasMore: false });
  });

  // LEASE-53
  test("a search looks at the latest 5000 and says that there were more; an exact id is always found", async () => {
    const uid = await addPool();
    const sessions = await addMany(uid, count, (n) => (n % 1000 === 0 ? { name: `order-${n}` } : {}));
    const read = vi.spyOn(endedLeases, "read");
    expect(await list({ query: "order-", limit: 100 })).toMatchObject({
      ids: [0, 1000, 2000, 3000, 4000].map((n) => sessions[n]),
      hasMore: false,
      isCut: true,
    });
    expect(read.mock.calls.reduce((sum, [, ids]) => sum + ids.length, 0)).toBe(5000);
    expect(await list({ query: "order-", limit: 2 })).toMatchObject({ hasMore: true, isCut: false });
    expect((await list({ query: sessions[19_000] ?? "" })).ids).toEqual([sessions[19_000]]);
  });
});

test("a session that ended more than a day ago is not among them", async () => {
  const uid = await addPool();
  await end(uid, "old", dayMs + 1000);
  await end(uid, "new", 0);
  expect((await list({})).ids).toEqual(["new"]);
});
