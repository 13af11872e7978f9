/**
 * Replicas that stand still while callers wait at them: subscribed, but silent (LEASE-54). Real Redis, real messages.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { poolKey } from "../../../src/core/leases/pool-keys.ts";
import { newId } from "../../../src/core/objects/new-id.ts";
import { eventually } from "../../support/eventually.ts";
import { leaseCalls } from "../../support/lease-calls.ts";
import { type LeaseParts, type Replica, startLeaseParts } from "../../support/lease-parts.ts";

let parts: LeaseParts;
let replica: Replica;
let pool: string;

beforeAll(async () => {
  parts = await startLeaseParts();
  replica = await parts.replica();
});
afterAll(() => parts[Symbol.asyncDispose]());
beforeEach(() => {
  pool = newId();
});

const { take, addBrowser, wakeOf } = leaseCalls(() => ({ parts, replica, pool }));

/** Stays subscribed and never beats, like a process that was stopped. */
const stillReplica = (): Promise<Replica> => parts.replica({ beatMs: 1_000_000 });

const beatOf = async (grants: Replica): Promise<number> =>
  Number(await parts.redis.hget(poolKey(pool, "beats"), grants.channel(pool)));
/** Moves the last beat back, so that no test waits for a silence. */
const silenceFor = async (grants: Replica, ms: number): Promise<void> => {
  await parts.redis.hset(poolKey(pool, "beats"), grants.channel(pool), (await beatOf(grants)) - ms);
};

describe("a grant", () => {
  // LEASE-54
  test("goes to no caller of a replica that is subscribed and silent, but to those behind them", async () => {
    const still = await stillReplica();
    for (let caller = 0; caller < 200; caller++) await take(`still-${caller}`, still);
    await take("alive");
    const woken = wakeOf("alive");
    await silenceFor(still, 2000);
    const browser = await addBrowser();
    expect(await woken).toMatchObject({ kind: "granted", lease: { browser, session: "alive", seq: 1 } });
    expect((await parts.store.snapshot(pool)).waiting).toBe(0);
  });

  test("goes to the caller of a replica that beats while it waits, however long that is", async () => {
    const beating = await parts.replica({ beatMs: 20 });
    const woken = wakeOf("a", beating);
    await take("a", beating);
    await silenceFor(beating, 2000);
    const before = await beatOf(beating);
    await eventually("a beat", async () => (await beatOf(beating)) > before);
    const browser = await addBrowser();
    expect(await woken).toMatchObject({ kind: "granted", lease: { browser } });
  });

  test("goes to the caller of a replica whose beat Redis has lost", async () => {
    const still = await stillReplica();
    const woken = wakeOf("a", still);
    await take("a", still);
    await parts.redis.del(poolKey(pool, "beats"));
    const browser = await addBrowser();
    expect(await woken).toMatchObject({ kind: "granted", lease: { browser } });
  });

  test("goes to no caller whose replica's beat is from a clock that was set back since", async () => {
    const ahead = await stillReplica();
    await take("ahead", ahead);
    await silenceFor(ahead, -3_600_000);
    await addBrowser();
    expect(await parts.store.isAlive(pool, "ahead")).toBe(false);
  });
});

// LEASE-54
test("a replica that wakes up finds its dropped callers at once, and they keep their place", async () => {
  const woken = await parts.replica({ beatMs: 1500 });
  const first = await take("first", woken);
  const wake = wakeOf("first", woken);
  await silenceFor(woken, 2000);
  await addBrowser();
  expect(await parts.store.isAlive(pool, "first")).toBe(false);
  expect(await wake).toEqual({ kind: "recheck" });
  expect(first.kind).toBe("waiting");
});

// LEASE-54
test("an examination tells that the replica of a lease is silent", async () => {
  const still = await stillReplica();
  const browser = await addBrowser();
  await take("a", still);
  expect((await parts.repairs.examine(pool, browser)).isReplicaStill).toBe(false);
  await silenceFor(still, 2000);
  expect((await parts.repairs.examine(pool, browser)).isReplicaStill).toBe(true);
});

test("beats of replicas that are gone for an hour are forgotten", async () => {
  const key = poolKey(pool, "beats");
  const nowMs = Date.now();
  for (let index = 0; index < 70; index++) await parts.redis.hset(key, `gone-${index}`, nowMs - 3_700_000);
  await parts.redis.hset(key, "a-minute-ago", nowMs - 60_000);
  expect(await parts.store.beat(pool, replica.channel(pool))).toBe(false);
  expect((await parts.redis.hkeys(key)).sort()).toEqual([replica.channel(pool), "a-minute-ago"].sort());
});
