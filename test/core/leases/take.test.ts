/** How callers get browsers: the scripts take, reject and cancel on a real Redis. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Grants } from "../../../src/core/leases/grants.ts";
import type { LeaseStore } from "../../../src/core/leases/lease-store.ts";
import { poolKey } from "../../../src/core/leases/pool-keys.ts";
import { newId } from "../../../src/core/objects/new-id.ts";
import { leaseCalls } from "../../support/lease-calls.ts";
import { type LeaseParts, startLeaseParts } from "../../support/lease-parts.ts";

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

describe("take", () => {
  // LEASE-1, LEASE-35
  test("gives the longest idle browser, with a fence that rises with every lease", async () => {
    const first = await addBrowser();
    const second = await addBrowser();
    const lease = await held("a");
    expect(lease).toMatchObject({ browser: first, epoch: 1, seq: 1, request: '{"of":"a"}', address: "127.0.0.9:7510" });
    expect((await held("b")).browser).toBe(second);
    await store.release(pool, "a", "releasing", "released");
    await store.offer(pool, lease);
    expect(await held("c")).toMatchObject({ browser: first, seq: 2 });
    expect(await store.counts(pool)).toEqual({ acquired: 2, available: 0 });
  });

  // LIMIT-14
  test("a queue that is full takes no new caller, and keeps those that are in it", async () => {
    const ask = (session: string, ticket?: string, mostWaiting = 2) =>
      store.take(pool, {
        session,
        channel: replica.channel(pool),
        request: "{}",
        mostWaiting,
        ...(ticket && { ticket }),
      });
    const first = await ask("a");
    expect([first.kind, (await ask("b")).kind, (await ask("c")).kind]).toEqual(["waiting", "waiting", "full"]);
    expect((await store.snapshot(pool)).waiting).toBe(2);
    expect(await ask("a")).toEqual(first);
    await store.cancel(pool, "a");
    expect((await ask("c")).kind).toBe("waiting");
    expect(first.kind === "waiting" && (await ask("a", first.ticket)).kind).toBe("waiting");
    for (const session of ["a", "b", "c"]) await store.cancel(pool, session);
    expect((await ask("d", undefined, 0)).kind).toBe("full");
    await addBrowser();
    expect((await ask("d", undefined, 0)).kind).toBe("granted");
  });

  // LEASE-36
  test("repeated with the same session gives the same answer and never a second browser", async () => {
    await addBrowser();
    await addBrowser();
    const lease = await held("a");
    expect(await take("a")).toEqual({ kind: "granted", lease });
    await held("b");
    const waiting = await take("c");
    expect(waiting.kind).toBe("waiting");
    expect(await take("c")).toEqual(waiting);
    expect((await store.snapshot(pool)).waiting).toBe(1);
  });

  // LEASE-2, LEASE-35
  test("grants in the order of requests, and tells each caller's replica", async () => {
    const wakes = ["a", "b", "c"].map((session) => wakeOf(session));
    for (const session of ["a", "b", "c"]) await take(session);
    const browsers = [await addBrowser(), await addBrowser(), await addBrowser()];
    const granted = await Promise.all(wakes);
    expect(granted.map((wake) => wake.kind === "granted" && wake.lease.browser)).toEqual(browsers);
  });

  test("with the ticket of an earlier place gets that place again", async () => {
    const early = await take("early");
    await take("late");
    await store.cancel(pool, "early");
    await take("early", replica, early.kind === "waiting" ? early.ticket : "");
    const woken = wakeOf("early");
    await addBrowser();
    expect((await woken).kind).toBe("granted");
  });

  test("gives rising tickets whatever the clock says, exact to the last digit", async () => {
    await parts.redis.hset(poolKey(pool, "pool"), "ticket", "4000000000000000");
    const tickets = [await take("a"), await take("b")].map((outcome) => outcome.kind === "waiting" && outcome.ticket);
    expect(tickets).toEqual(["4000000000000001", "4000000000000002"]);
    await addBrowser();
    const lease = await store.lease(pool, "a");
    expect(lease?.ticket).toBe("4000000000000001");
    expect(lease && (await store.reject(pool, lease, "unreachable"))).toEqual({ kind: "waiting", ticket: tickets[0] });
  });

  test("puts a caller that returns with its ticket after a loss of data before all later callers", async () => {
    const early = await take("early");
    await store.drop(pool);
    await take("late");
    await take("early", replica, early.kind === "waiting" ? early.ticket : "");
    await take("last");
    const woken = wakeOf("early");
    await addBrowser();
    expect((await woken).kind).toBe("granted");
  });

  test("does not start a session again that has ended", async () => {
    await addBrowser();
    await held("a");
    await store.release(pool, "a", "releasing", "deleted");
    expect(await take("a")).toEqual({ kind: "ended" });
  });

  test("takes no browser from a pool that drains", async () => {
    await addBrowser();
    await store.drain(pool, { evenIfLeased: false });
    expect(await take("a")).toEqual({ kind: "draining" });
    await store.undrain(pool);
    expect((await take("a")).kind).toBe("granted");
  });

  // LEASE-41
  test("passes over a waiter whose replica is dead", async () => {
    const dead = await parts.replica();
    await take("dead", dead);
    await dead.close();
    await take("alive");
    const woken = wakeOf("alive");
    const browser = await addBrowser();
    expect(await woken).toMatchObject({ kind: "granted", lease: { browser, seq: 1 } });
    expect(await store.isAlive(pool, "dead")).toBe(false);
  });

  test("runs again after Redis has flushed its scripts", async () => {
    await parts.redis.script("FLUSH");
    await addBrowser();
    expect((await take("a")).kind).toBe("granted");
  });
});

describe("reject", () => {
  test("makes the browser suspect and gives the caller the next one", async () => {
    const bad = await addBrowser();
    const good = await addBrowser();
    const outcome = await store.reject(pool, await held("a"), "browser_unhealthy");
    expect(outcome).toMatchObject({ kind: "granted", lease: { browser: good, session: "a" } });
    expect(await recordOf(bad)).toMatchObject({ state: "suspect", reason: "browser_unhealthy" });
  });

  // LEASE-39
  test("keeps the caller's place before later callers", async () => {
    await addBrowser();
    const lease = await held("first");
    await take("second");
    expect((await store.reject(pool, lease, "unreachable")).kind).toBe("waiting");
    const woken = wakeOf("first");
    await addBrowser();
    expect((await woken).kind).toBe("granted");
  });

  test("of a browser that the session does not hold changes nothing", async () => {
    const browser = await addBrowser();
    const lease = await held("a");
    expect(await store.reject(pool, { ...lease, browser: "other" }, "x")).toEqual({ kind: "unknown" });
    expect(await store.reject(pool, { ...lease, session: "other" }, "x")).toEqual({ kind: "unknown" });
    expect(await stateOf(browser)).toBe("leased");
  });

  test("of a session that has ended meanwhile says so", async () => {
    await addBrowser();
    const lease = await held("a");
    await store.release(pool, "a", "retired", "deleted");
    expect(await store.reject(pool, lease, "x")).toEqual({ kind: "ended" });
  });

  test("tells the caller when the pool drains meanwhile", async () => {
    await addBrowser();
    const lease = await held("a");
    await store.drain(pool, { evenIfLeased: true });
    expect(await store.reject(pool, lease, "x")).toEqual({ kind: "draining" });
  });
});

describe("cancel", () => {
  test("takes a caller out of the queue, so that the next one is served", async () => {
    await take("gone");
    await take("next");
    expect(await store.cancel(pool, "gone")).toEqual({ kind: "cancelled" });
    const woken = wakeOf("next");
    await addBrowser();
    expect((await woken).kind).toBe("granted");
    expect(await store.cancel(pool, "gone")).toEqual({ kind: "unknown" });
  });

  test("reports a grant that came first, and keeps it", async () => {
    await addBrowser();
    const lease = await held("a");
    expect(await store.cancel(pool, "a")).toEqual({ kind: "granted", lease });
    expect(await store.isAlive(pool, "a")).toBe(true);
  });
});
