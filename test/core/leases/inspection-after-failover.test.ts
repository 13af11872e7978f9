/**
 * Inspections after a failover to a Redis that has lost the last writes, with small agents that have the real fence.
 */
import { describe, expect, test } from "vitest";
import { inspect } from "../../../src/core/leases/inspect.ts";
import { newId } from "../../../src/core/objects/new-id.ts";
import { inspectedBrowser } from "../../support/inspected-browser.ts";
import { startSmallAgent, usualPod } from "../../support/lease-parts.ts";

const it = inspectedBrowser();
const {
  recordOf,
  stateOf,
  wakeOf,
  begin,
  depsWith,
  inspectBrowser,
  take,
  granted,
  bind,
  corrections,
  held,
  release,
  reserveName,
  age,
  losing,
} = it;

/** Binds the lease that a waiting caller was granted. */
const bindGranted = async (session: string): Promise<void> => {
  const lease = await it.parts.store.lease(it.pool, session);
  expect(lease && (await bind(lease)).kind).toBe("ok");
};
/** Another browser of the pool. */
const secondBrowser = async () => {
  const agent = await startSmallAgent();
  const browser = { id: newId(), pod: usualPod, address: agent.address, configHash: "hash" };
  return {
    id: browser.id,
    agent,
    corrections: async () =>
      (await inspect({ poolUid: it.pool, epoch: it.epoch, browser }, depsWith())).corrected.map(({ why }) => why),
    [Symbol.asyncDispose]: () => agent[Symbol.asyncDispose](),
  };
};

test("a grant: its lease is restored, and its holder is not disturbed", async () => {
  await inspectBrowser();
  await losing(() => held("a"));
  expect(await stateOf(it.browser.id)).toBe("idle");
  expect(await corrections()).toEqual(["Restored"]);
  expect(await it.parts.store.lease(it.pool, "a")).toMatchObject({ seq: 1 });
  expect(it.agent.holder()).toBe("a");
  expect((await take("b")).kind).toBe("waiting");
});

// LEASE-40
test("a grant, after which another caller is given the browser: the agent refuses, and the holder keeps it", async () => {
  await inspectBrowser();
  await losing(() => held("a"));
  const other = await granted("b");
  expect(await bind(other)).toEqual({ kind: "refused", code: "stale_fence" });
  expect((await it.parts.store.reject(it.pool, other, "stale_fence")).kind).toBe("waiting");
  expect(await stateOf(it.browser.id)).toBe("suspect");
  expect(await corrections()).toEqual(["Restored"]);
  expect(await it.parts.store.lease(it.pool, "a")).toMatchObject({ seq: 1 });
  expect(it.agent.holder()).toBe("a");
});

// LEASE-56
test("a release: the session has ended, its name is free, and the browser goes to a waiting caller", async () => {
  await inspectBrowser();
  await held("a");
  await losing(() => release("a"));
  expect(await stateOf(it.browser.id)).toBe("leased");
  await age();
  await take("b");
  const woken = wakeOf("b");
  expect(await reserveName("a")).toBe(true);
  expect(await corrections()).toEqual(["EndLost"]);
  expect(await it.parts.store.endedLease(it.pool, "a")).toMatchObject({ reason: "released" });
  expect(await it.names.find(it.pool, "name-a")).toBeUndefined();
  expect(await woken).toMatchObject({ kind: "granted", lease: { seq: 2 } });
});

test("a release and the next grant: the new holder's lease is restored", async () => {
  await inspectBrowser();
  await held("a");
  await losing(async () => {
    await release("a");
    await held("b");
  });
  expect(await corrections()).toEqual(["Restored"]);
  expect(await it.parts.store.endedLease(it.pool, "a")).toMatchObject({ reason: "released" });
  expect(await it.parts.store.lease(it.pool, "b")).toMatchObject({ seq: 2 });
  expect(it.agent.holder()).toBe("b");
});

test("a grant to a waiting caller: it has its browser, leaves the queue, and is told to ask again", async () => {
  await take("a");
  await losing(() => inspectBrowser().then(() => bindGranted("a")));
  expect((await it.parts.store.snapshot(it.pool)).waiting).toBe(1);
  const woken = wakeOf("a");
  expect(await corrections()).toEqual(["Restored"]);
  expect(await woken).toEqual({ kind: "recheck" });
  expect((await it.parts.store.snapshot(it.pool)).waiting).toBe(0);
  expect(await take("a")).toMatchObject({ kind: "granted", lease: { browser: it.browser.id, seq: 1 } });
});

test("a grant to a waiting caller, which was then granted a second browser without a bind: it keeps the first", async () => {
  await using second = await secondBrowser();
  await take("a");
  await losing(() => inspectBrowser().then(() => bindGranted("a")));
  expect(await second.corrections()).toEqual(["Registered"]);
  expect(await it.parts.store.lease(it.pool, "a")).toMatchObject({ browser: second.id });
  expect(await inspectBrowser()).toMatchObject({ is: "later", corrected: [] });
  await age(second.id);
  expect(await second.corrections()).toEqual(["NeverBound"]);
  expect(await corrections()).toEqual(["Restored"]);
  expect(await it.parts.store.lease(it.pool, "a")).toMatchObject({ browser: it.browser.id, seq: 1 });
  expect(it.agent.holder()).toBe("a");
});

describe("a bind without an answer, and the next one to another browser after recovery", () => {
  /** Both agents hold session "a", the second with a bind of a later epoch, and Redis has lost everything again. */
  const boundTwice = async () => {
    const second = await secondBrowser();
    // The clocks of nodes differ, so the times of the agents don't show which bind was later.
    it.agent.aheadMs = 60_000;
    await inspectBrowser();
    await held("a");
    await it.parts.store.drop(it.pool);
    await begin(2);
    await second.corrections();
    await granted("a").then(bind);
    expect([it.agent.holder(), second.agent.holder()]).toEqual(["a", "a"]);
    await it.parts.store.drop(it.pool);
    await begin(3);
    return second;
  };

  test("the caller keeps the later browser when the earlier one is inspected first", async () => {
    await using second = await boundTwice();
    expect(await corrections()).toEqual(["Restored"]);
    expect(await second.corrections()).toEqual(["Restored"]);
    expect(await it.parts.store.lease(it.pool, "a")).toMatchObject({ browser: second.id });
    await age();
    expect(await corrections()).toEqual(["OfferLost"]);
    expect([it.agent.holder(), second.agent.holder()]).toEqual([undefined, "a"]);
  });

  test("the caller keeps the later browser when that is inspected first", async () => {
    await using second = await boundTwice();
    expect(await second.corrections()).toEqual(["Restored"]);
    expect(await corrections()).toEqual(["Registered"]);
    expect(await it.parts.store.lease(it.pool, "a")).toMatchObject({ browser: second.id });
    expect([it.agent.holder(), second.agent.holder()]).toEqual([undefined, "a"]);
  });
});

test.each([
  { aheadMs: 1000, keeps: "second", found: "Registered" },
  { aheadMs: -1000, keeps: "first", found: "Restored" },
])("two binds under one epoch: the agents' clocks tell the later one ($keeps)", async ({ aheadMs, keeps, found }) => {
  await using second = await secondBrowser();
  second.agent.aheadMs = aheadMs;
  await take("a");
  await losing(() => inspectBrowser().then(() => bindGranted("a")));
  expect(await second.corrections()).toEqual(["Registered"]);
  await bindGranted("a");
  expect(await corrections()).toEqual([found]);
  const owner = keeps === "first" ? it.browser.id : second.id;
  expect(await it.parts.store.lease(it.pool, "a")).toMatchObject({ browser: owner });
});

// LEASE-40, LEASE-45
test("a second lease of the same browser by the same session: it is restored in place of the first, and has not ended", async () => {
  await inspectBrowser();
  const first = await granted("a");
  await losing(async () => {
    expect((await it.parts.store.reject(it.pool, first, "agent TimeoutError")).kind).toBe("waiting");
    expect(await corrections()).toEqual(["Cleared"]);
    await bindGranted("a");
  });
  expect(await it.parts.store.lease(it.pool, "a")).toMatchObject({ seq: 1 });
  expect(await reserveName("a")).toBe(true);
  await begin(2);
  expect(await corrections()).toEqual(["Restored"]);
  expect(await it.parts.store.lease(it.pool, "a")).toMatchObject({ browser: it.browser.id, epoch: 1, seq: 2 });
  expect(await it.parts.store.endedLease(it.pool, "a")).toBeUndefined();
  expect(await it.names.find(it.pool, "name-a")).toEqual({ poolUid: it.pool, session: "a" });
  expect(it.agent.holder()).toBe("a");
  expect(await corrections()).toEqual([]);
});

test("leases that began and ended: the next fence is above theirs", async () => {
  await inspectBrowser();
  await losing(async () => {
    for (const session of ["a", "b"]) {
      await held(session);
      await release(session);
    }
  });
  const before = await recordOf(it.browser.id);
  expect(await corrections()).toEqual(["SeqRaised"]);
  expect(await recordOf(it.browser.id)).toEqual({ ...before, seq: 2 });
  expect(await held("c")).toMatchObject({ seq: 3 });
});
