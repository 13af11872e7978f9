/** Browsers with a leaving mark, on a real Redis: the holder keeps its browser, and no other caller ever gets it. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Grants } from "../../../src/core/leases/grants.ts";
import type { LeaseStore } from "../../../src/core/leases/lease-store.ts";
import { createLeavingMarks, type LeavingMarks } from "../../../src/core/leases/leaving-marks.ts";
import { followPoolChanges } from "../../../src/core/leases/pool-channels.ts";
import type { LeaseRecord } from "../../../src/core/leases/records.ts";
import { newId } from "../../../src/core/objects/new-id.ts";
import { connectRedis, whenReady } from "../../../src/platform/redis/connection.ts";
import { sharedServers } from "../../support/control-plane.ts";
import { leaseCalls } from "../../support/lease-calls.ts";
import { type LeaseParts, silent, startLeaseParts } from "../../support/lease-parts.ts";

let parts: LeaseParts;
let store: LeaseStore;
let leavingMarks: LeavingMarks;
let replica: Grants;
let pool: string;

beforeAll(async () => {
  parts = await startLeaseParts();
  store = parts.store;
  leavingMarks = createLeavingMarks(parts.redis);
  replica = await parts.replica();
});
afterAll(() => parts[Symbol.asyncDispose]());
beforeEach(() => {
  pool = newId();
});

const { take, held, addBrowser, recordOf, stateOf } = leaseCalls(() => ({ parts, replica, pool }));
const retired = { state: "retired", reason: "NodeLeaving" };

/** Marks a browser in use and returns its holder's lease. */
const leasedAndLeaving = async (): Promise<{ browser: string; lease: LeaseRecord }> => {
  const browser = await addBrowser();
  const lease = await held("a");
  expect(await leavingMarks.leave(pool, [browser], "NodeLeaving")).toBe(1);
  return { browser, lease };
};

test("an idle browser is retired at once, and no caller gets it", async () => {
  const browser = await addBrowser();
  expect(await leavingMarks.leave(pool, [browser, "unknown"], "NodeLeaving")).toBe(1);
  expect(await recordOf(browser)).toMatchObject(retired);
  expect((await take("a")).kind).toBe("waiting");
});

test("a browser in use stays with its holder", async () => {
  const { browser, lease } = await leasedAndLeaving();
  expect(await recordOf(browser)).toMatchObject({ state: "leased", session: "a", leaving: "NodeLeaving" });
  expect(await store.lease(pool, "a")).toEqual(lease);
});

describe("a marked browser is retired instead of becoming idle", () => {
  test("when its lease ends, although a caller waits", async () => {
    const { browser, lease } = await leasedAndLeaving();
    expect((await take("b")).kind).toBe("waiting");
    await store.release(pool, "a", "releasing", "released");
    expect(await store.offer(pool, lease)).toBe(true);
    expect(await recordOf(browser)).toMatchObject(retired);
    expect((await store.snapshot(pool)).waiting).toBe(1);
  });

  test("when its agent does not confirm the end of the lease: it needs no inspection", async () => {
    const { browser, lease } = await leasedAndLeaving();
    await store.release(pool, "a", "releasing", "released");
    expect(await store.suspect(pool, lease, "stopping")).toBe(true);
    expect(await recordOf(browser)).toMatchObject(retired);
  });

  test("when it was marked between the end of its lease and the offer", async () => {
    const browser = await addBrowser();
    const lease = await held("a");
    await store.release(pool, "a", "releasing", "released");
    await leavingMarks.leave(pool, [browser], "NodeLeaving");
    await store.offer(pool, lease);
    expect(await recordOf(browser)).toMatchObject(retired);
  });

  test("when an inspection clears it after it refused a lease; the inspection comes first, since it may be in use", async () => {
    const { browser, lease } = await leasedAndLeaving();
    expect(await store.reject(pool, lease, "stopping")).toMatchObject({ kind: "waiting" });
    expect(await recordOf(browser)).toMatchObject({ state: "suspect", leaving: "NodeLeaving" });
    const examined = await parts.repairs.examine(pool, browser);
    const { since: _, session: __, reason: ___, ...record } = examined.record ?? ({} as never);
    expect(await parts.repairs.repair(pool, examined, { record: { ...record, state: "idle" }, former: "kept" })).toBe(
      true,
    );
    expect(await recordOf(browser)).toMatchObject(retired);
    expect((await store.snapshot(pool)).waiting).toBe(1);
  });
});

test("the newest reason counts, the same reason again changes nothing, and a retired browser stays as it is", async () => {
  const { browser, lease } = await leasedAndLeaving();
  expect(await leavingMarks.leave(pool, [browser], "NodeLeaving")).toBe(0);
  expect(await leavingMarks.leave(pool, [browser], "Evicted")).toBe(1);
  await store.release(pool, "a", "releasing", "released");
  await store.offer(pool, lease);
  expect(await leavingMarks.leave(pool, [browser], "NodeLeaving")).toBe(0);
  expect(await recordOf(browser)).toMatchObject({ state: "retired", reason: "Evicted" });
});

test("the operators are told at once about a browser to delete", async () => {
  // Fails by its time-out when no urgent message comes.
  const { lease } = await leasedAndLeaving();
  await using listening = new AsyncDisposableStack();
  const subscriber = connectRedis((await sharedServers()).redisUrl, silent);
  listening.defer(() => subscriber.disconnect());
  await whenReady(subscriber, 10_000);
  const urgent = Promise.withResolvers<void>();
  await followPoolChanges(subscriber, (change) => change.poolUid === pool && change.urgent && urgent.resolve(), silent);
  await store.release(pool, "a", "releasing", "released");
  await store.offer(pool, lease);
  await urgent.promise;
});

describe("a leaving mark that is removed", () => {
  test("lets the browser become idle when its lease ends", async () => {
    const { browser, lease } = await leasedAndLeaving();
    expect(await leavingMarks.stay(pool, [browser, "unknown"], "NodeLeaving")).toBe(1);
    await store.release(pool, "a", "releasing", "released");
    await store.offer(pool, lease);
    expect(await stateOf(browser)).toBe("idle");
    expect(await recordOf(browser)).not.toHaveProperty("leaving");
  });

  test("for another reason has no effect, and the browser still leaves", async () => {
    const { browser } = await leasedAndLeaving();
    expect(await leavingMarks.stay(pool, [browser], "ImageOutdated")).toBe(0);
    expect(await recordOf(browser)).toMatchObject({ leaving: "NodeLeaving" });
  });

  test("after the browser was retired changes nothing", async () => {
    const browser = await addBrowser();
    await leavingMarks.leave(pool, [browser], "NodeLeaving");
    expect(await leavingMarks.stay(pool, [browser], "NodeLeaving")).toBe(0);
    expect(await stateOf(browser)).toBe("retired");
  });
});
