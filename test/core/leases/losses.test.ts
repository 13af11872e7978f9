/**
 * Callers when messages, answers, places in the queue or grants get lost: no caller is forgotten, and none gets two
 * browsers.
 */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { type Acquired, acquireLease } from "../../../src/core/leases/acquire-lease.ts";
import type { Grants } from "../../../src/core/leases/grants.ts";
import { poolKeys, recheckChannel } from "../../../src/core/leases/pool-keys.ts";
import { releaseLease } from "../../../src/core/leases/release-lease.ts";
import { newId } from "../../../src/core/objects/new-id.ts";
import { startBreakableLink } from "../../support/breakable-link.ts";
import { sharedServers } from "../../support/control-plane.ts";
import { eventually } from "../../support/eventually.ts";
import {
  type Behaviour,
  type LeaseParts,
  type SmallAgent,
  silent,
  startLeaseParts,
  startSmallAgent,
} from "../../support/lease-parts.ts";

let parts: LeaseParts;
let patient: Grants;
let poolUid: string;
let agents: SmallAgent[] = [];

beforeAll(async () => {
  parts = await startLeaseParts();
  patient = await parts.replica();
});
afterAll(() => parts[Symbol.asyncDispose]());
beforeEach(() => {
  poolUid = newId();
});
afterEach(async () => {
  await Promise.all(agents.map((agent) => agent[Symbol.asyncDispose]()));
  agents = [];
});

const browser = async (behaviour: Behaviour = "ok"): Promise<SmallAgent> => {
  const agent = await startSmallAgent(behaviour);
  agents.push(agent);
  await parts.addBrowser(poolUid, agent.address);
  return agent;
};
const acquire = (session: string, grants = patient): Promise<Acquired> => {
  const request = {
    timeout_seconds: 60,
    max_session_seconds: 3600,
    pool: { id: "pool", uid: poolUid },
    project: "project",
  };
  const wanted = { poolUid, session, request, waitMs: 20_000 };
  return acquireLease(wanted, { ...parts, grants, log: silent }, new AbortController().signal);
};
const held = (session: string) => ({ kind: "held", lease: { session } });
const whenWaiting = (count: number) =>
  eventually(`${count} wait`, async () => (await parts.store.snapshot(poolUid)).waiting === count);
const subscribers = async (grants: Grants): Promise<unknown> => {
  const [, count] = (await parts.redis.pubsub("SHARDNUMSUB", grants.channel(poolUid))) as [string, number];
  return count;
};

/** Keeps what Redis has of the pool now; the result sets it back to that, as a failover may. */
const keptData = async (): Promise<() => Promise<void>> => {
  const keys = poolKeys(poolUid);
  const kept = await Promise.all(keys.map(async (key) => ({ key, dump: await parts.redis.dumpBuffer(key) })));
  return async () => {
    await parts.redis.unlink(keys);
    for (const { key, dump } of kept) if (dump) await parts.redis.restore(key, 0, dump);
  };
};

// LEASE-40, LEASE-42
test("a caller that has a browser, and waits for one in data to which Redis fell back, gets no second one; who still waits does", async () => {
  const holder = acquire("holder");
  await whenWaiting(1);
  const waiter = acquire("waiter");
  await whenWaiting(2);
  const fallBack = await keptData();
  const first = await browser();
  expect(await holder).toMatchObject(held("holder"));
  await fallBack();
  expect(await parts.repairs.establish(poolUid, 2)).toBe(true);
  await browser();
  expect(await waiter).toMatchObject(held("waiter"));
  await browser();
  expect(await parts.store.counts(poolUid)).toEqual({ acquired: 1, available: 1 });
  expect(first.holder()).toBe("holder");
});

describe("a caller whose place in the queue Redis has lost", () => {
  // LEASE-42
  test("gets it back when the operator sends a recheck, before callers that came later", async () => {
    const early = acquire("early");
    await whenWaiting(1);
    await parts.store.drop(poolUid);
    const late = acquire("late");
    await whenWaiting(1);
    await parts.redis.spublish(recheckChannel(poolUid), "");
    await whenWaiting(2);
    await browser();
    expect(await early).toMatchObject(held("early"));
    await browser();
    expect(await late).toMatchObject(held("late"));
  });

  test("gets it back by the replica's own check when there is no recheck", async () => {
    const checking = await parts.replica({ checkMs: 50 });
    const acquiring = acquire("a", checking);
    await whenWaiting(1);
    await parts.store.drop(poolUid);
    await whenWaiting(1);
    await browser();
    expect(await acquiring).toMatchObject(held("a"));
  });
});

describe("a caller whose grant message is lost", () => {
  // LEASE-42
  test("gets its browser although the connection for messages hangs, and gets later ones by message again", async () => {
    const link = await startBreakableLink(Number(new URL((await sharedServers()).redisUrl).port));
    try {
      const url = Object.assign(new URL((await sharedServers()).redisUrl), { port: link.port }).href;
      const hanging = await parts.replica({ url, checkMs: 100 });
      const first = acquire("first", hanging);
      await whenWaiting(1);
      link.freeze();
      await browser();
      expect(await first).toMatchObject(held("first"));
      const second = acquire("second", hanging);
      await whenWaiting(1);
      // The replica gives up the hanging connection, and the new one delivers messages.
      link.thaw();
      await eventually("only the new connection is subscribed", async () => (await subscribers(hanging)) === 1);
      await browser();
      expect(await second).toMatchObject(held("second"));
    } finally {
      link.close();
    }
  });

  test("waits only a moment longer when its replica has lost the subscription", async () => {
    const unsubscribed = await parts.replica({ checkMs: 100 });
    const acquiring = acquire("a", unsubscribed);
    await whenWaiting(1);
    await unsubscribed.unsubscribe(poolUid);
    await eventually("it is subscribed again", async () => (await subscribers(unsubscribed)) === 1);
    await browser();
    expect(await acquiring).toMatchObject(held("a"));
  });
});

test("a replica unsubscribes from a pool that no caller asks for any more, and from no other one", async () => {
  const replica = await parts.replica({ checkMs: 20, keptMs: 100 });
  const acquiring = acquire("a", replica);
  const unused = newId();
  await replica.follow(unused);
  const listeners = (uid: string) => parts.redis.pubsub("SHARDNUMSUB", replica.channel(uid)) as Promise<unknown[]>;
  expect((await listeners(unused))[1]).toBe(1);
  await eventually("the unused subscription is gone", async () => (await listeners(unused))[1] === 0);
  expect(await subscribers(replica)).toBe(1);
  await browser();
  expect(await acquiring).toMatchObject(held("a"));
});

describe("a caller whose browser refuses the bind", () => {
  test("gets the next browser in its old place after Redis has lost the grant", async () => {
    const agent = await browser("hold");
    const acquiring = acquire("a");
    await agent.asked;
    await parts.store.drop(poolUid);
    const late = acquire("late");
    await whenWaiting(1);
    agent.behaviour = "refuse";
    agent.letGo();
    await whenWaiting(2);
    await browser();
    expect(await acquiring).toMatchObject(held("a"));
    await browser();
    expect(await late).toMatchObject(held("late"));
  });

  test("is told to repeat its request after its session was ended, and takes no browser", async () => {
    const agent = await browser("hold");
    const acquiring = acquire("a");
    await agent.asked;
    await parts.store.release(poolUid, "a", "retired", "deleted");
    agent.behaviour = "refuse";
    agent.letGo();
    await expect(acquiring).rejects.toMatchObject({ code: "unavailable", retryAfterSeconds: 1 });
    await parts.abandonedSessions.drain(5000);
    expect(await parts.store.counts(poolUid)).toEqual({ acquired: 0, available: 0 });
  });
});

test("a connection that breaks at any moment fails no call, and gives no caller two browsers", async () => {
  // A call gets over half a second without Redis; on a loaded machine a new connection takes longer. So here that half
  // second never passes: its clock stands still. Timers go on.
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const agent = await browser();
  await browser();
  const breakSoon = () => setTimeout(() => parts.cut(), Math.random() * 3);
  for (let round = 0; round < 15; round++) {
    const session = newId();
    breakSoon();
    expect(await acquire(session)).toMatchObject(held(session));
    breakSoon();
    const release = { poolUid, session, reuse: "reset", reason: "released" } as const;
    expect(await releaseLease(release, parts)).toMatchObject({ session });
    await eventually(
      "both are idle",
      async () => (await parts.store.counts(poolUid).catch(() => undefined))?.available === 2,
    );
  }
  expect(await parts.store.counts(poolUid)).toEqual({ acquired: 0, available: 2 });
  expect(agent.holder()).toBeUndefined();
});
