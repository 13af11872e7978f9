/** Inspections on a real Redis, with small agents that have the real fence (diagnose.test.ts has every diagnosis). */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Grants } from "../../src/leases/grants.ts";
import { type InspectDeps, type InspectResult, inspect } from "../../src/leases/inspect.ts";
import type { NewBrowser } from "../../src/leases/lease-store.ts";
import { createLeavingMarks } from "../../src/leases/leaving-marks.ts";
import { poolKey } from "../../src/leases/pool-keys.ts";
import type { LeaseRecord } from "../../src/leases/records.ts";
import { releaseLease } from "../../src/leases/release-lease.ts";
import { retireUnknown } from "../../src/leases/retire-unknown.ts";
import { createSessionNames, type SessionNames } from "../../src/redis/session-names.ts";
import { newId } from "../../src/services/objects/new-id.ts";
import { leaseCalls } from "../support/lease-calls.ts";
import { type LeaseParts, type SmallAgent, startLeaseParts, startSmallAgent } from "../support/lease-parts.ts";

let parts: LeaseParts;
let names: SessionNames;
let replica: Grants;
let pool: string;
let epoch: number;
let agent: SmallAgent;
let browser: NewBrowser;

beforeAll(async () => {
  parts = await startLeaseParts();
  names = createSessionNames(parts.redis, parts.store);
  replica = await parts.replica();
});
afterAll(() => parts[Symbol.asyncDispose]());
beforeEach(async () => {
  pool = newId();
  agent = await startSmallAgent();
  browser = { id: newId(), pod: "pod", address: agent.address, configHash: "hash" };
  await begin(1);
});
afterEach(() => agent[Symbol.asyncDispose]());

const { recordOf, stateOf, wakeOf } = leaseCalls(() => ({ parts, replica, pool }));

const begin = async (next: number): Promise<void> => {
  epoch = next;
  expect(await parts.repairs.establish(pool, next)).toBe(true);
};
const depsWith = (more: Partial<InspectDeps> = {}): InspectDeps => ({
  repairs: parts.repairs,
  agents: parts.agents,
  names,
  check: () => undefined,
  ...more,
});
const inspectBrowser = (more: Partial<InspectDeps> = {}): Promise<InspectResult> =>
  inspect({ poolUid: pool, epoch, browser }, depsWith(more));
const corrections = async (more: Partial<InspectDeps> = {}): Promise<string[]> =>
  (await inspectBrowser(more)).corrected.map(({ why }) => why);

const requestOf = (session: string): string =>
  JSON.stringify({ timeout_seconds: 60, name: `name-${session}`, pool: { id: "p", uid: pool }, project: pool });
const take = async (session: string) => {
  await replica.follow(pool);
  return parts.store.take(pool, { session, channel: replica.channel(pool), request: requestOf(session) });
};
const granted = async (session: string): Promise<LeaseRecord> => {
  const outcome = await take(session);
  if (outcome.kind !== "granted") throw new Error(outcome.kind);
  return outcome.lease;
};
const bind = ({ session, seq, request, ...lease }: LeaseRecord) =>
  parts.agents.bind(
    { session, seq, request, ...lease },
    { session_id: session, epoch: lease.epoch, seq, timeout_seconds: 60, max_seconds: 3600, request },
  );
const held = async (session: string): Promise<LeaseRecord> => {
  const lease = await granted(session);
  expect((await bind(lease)).kind).toBe("ok");
  return lease;
};
/** Makes the record look as if it had entered its state a minute ago. */
const age = async (id = browser.id): Promise<void> => {
  const record = await recordOf(id);
  const text = JSON.stringify({ ...record, since: (record?.since ?? 0) - 60_000 });
  await parts.redis.hset(poolKey(pool, "browsers"), id, text);
};
/** Does what a failover to a replica that lagged behind does: `work` has happened, and Redis has lost it. */
const losing = async (work: () => Promise<unknown>): Promise<void> => {
  const keyParts = ["pool", "browsers", "idle", "waiters", "requests", "leases", "ended", "ended_at"] as const;
  const keys = keyParts.map((part) => poolKey(pool, part));
  const before = await Promise.all(keys.map(async (key) => ({ key, dump: await parts.redis.dumpBuffer(key) })));
  await work();
  await parts.store.drop(pool);
  for (const { key, dump } of before) if (dump) await parts.redis.restore(key, 0, dump);
};
/** Binds the lease that a waiting caller was granted. */
const bindGranted = async (session: string): Promise<void> => {
  const lease = await parts.store.lease(pool, session);
  expect(lease && (await bind(lease)).kind).toBe("ok");
};
/** Another browser of the pool. */
const secondBrowser = async () => {
  const other = await startSmallAgent();
  const target = { id: newId(), pod: "pod-2", address: other.address, configHash: "hash" };
  return {
    id: target.id,
    agent: other,
    corrections: async () =>
      (await inspect({ poolUid: pool, epoch, browser: target }, depsWith())).corrected.map(({ why }) => why),
    [Symbol.asyncDispose]: () => other[Symbol.asyncDispose](),
  };
};
const release = (session: string) =>
  releaseLease({ poolUid: pool, session, reuse: "reset", reason: "released" }, parts);

// LEASE-40
test("a browser that is idle again by a failover stays its holder's, also when it is granted before the inspection under the new epoch", async () => {
  await inspectBrowser();
  await losing(() => held("a"));
  await begin(2);
  const other = await granted("b");
  expect(await bind(other)).toMatchObject({ kind: "refused", code: "stale_fence" });
  expect(await parts.agents.end(other, "reset")).toMatchObject({ kind: "refused", code: "not_holder" });
  expect(agent.holder()).toBe("a");
  expect((await parts.store.reject(pool, other, "stale_fence")).kind).toBe("waiting");
  expect(await corrections()).toEqual(["Restored"]);
  expect(await parts.store.lease(pool, "a")).toMatchObject({ browser: browser.id, epoch: 1, seq: 1 });
});

describe("a browser without a record", () => {
  test("registers as idle once, and goes to a waiting caller", async () => {
    await take("a");
    const woken = wakeOf("a");
    expect(await corrections()).toEqual(["Registered"]);
    expect(await woken).toMatchObject({ kind: "granted", lease: { browser: browser.id, epoch: 1, seq: 1 } });
    expect(await corrections()).toEqual([]);
    expect(await recordOf(browser.id)).toMatchObject({ state: "leased", session: "a" });
  });

  // LEASE-45
  test("comes back after a loss of all data with its lease, which works as before, and its name", async () => {
    await inspectBrowser();
    const lease = await held("a");
    await parts.store.drop(pool);
    await begin(2);
    expect(await corrections()).toEqual(["Restored"]);
    expect(await parts.store.lease(pool, "a")).toMatchObject({
      session: "a",
      browser: browser.id,
      pod: "pod",
      address: agent.address,
      config: "hash",
      epoch: 1,
      seq: 1,
      request: lease.request,
    });
    expect(await names.find(pool, "name-a")).toEqual({ poolUid: pool, session: "a" });
    expect(agent.holder()).toBe("a");
    expect((await take("b")).kind).toBe("waiting");
    const woken = wakeOf("b");
    await release("a");
    expect(agent.holder()).toBeUndefined();
    expect(await woken).toMatchObject({ kind: "granted", lease: { epoch: 2, seq: 2 } });
  });

  test("refuses a bind that was sent before all data was lost", async () => {
    await inspectBrowser();
    const lease = await granted("a");
    await parts.store.drop(pool);
    await begin(2);
    expect(await corrections()).toEqual(["Registered"]);
    expect(await bind(lease)).toEqual({ kind: "refused", code: "stale_fence" });
    expect(agent.holder()).toBeUndefined();
    await held("b");
    expect(agent.holder()).toBe("b");
  });

  test("is inspected again when a bind is in progress or its agent does not answer", async () => {
    agent.behaviour = "hold";
    const lease = {
      session: "a",
      browser: browser.id,
      address: agent.address,
      epoch: 1,
      seq: 1,
      request: "{}",
    } as LeaseRecord;
    const binding = bind(lease);
    await agent.asked;
    expect(await inspectBrowser()).toMatchObject({ is: "later" });
    agent.letGo();
    await binding;
    const address = "127.0.0.9:9";
    expect(await inspect({ poolUid: pool, epoch, browser: { ...browser, address } }, depsWith())).toMatchObject({
      is: "silent",
    });
    expect(await recordOf(browser.id)).toBeUndefined();
  });
});

describe("a browser with a leaving mark", () => {
  test("registers as retired, and waiting callers keep waiting", async () => {
    await take("a");
    browser = { ...browser, leaving: "NodeLeaving" };
    expect(await corrections()).toEqual(["Registered"]);
    expect(await recordOf(browser.id)).toMatchObject({ state: "retired", reason: "NodeLeaving" });
    expect((await parts.store.snapshot(pool)).waiting).toBe(1);
  });

  test("comes back after a loss of all data with its lease, and leaves when the lease ends", async () => {
    await inspectBrowser();
    await held("a");
    await parts.store.drop(pool);
    await begin(2);
    browser = { ...browser, leaving: "Evicted" };
    expect(await corrections()).toEqual(["Restored"]);
    expect(await recordOf(browser.id)).toMatchObject({ state: "leased", session: "a", leaving: "Evicted" });
    await release("a");
    expect(await recordOf(browser.id)).toMatchObject({ state: "retired", reason: "Evicted" });
  });

  // LEASE-51
  test("gets the time of its mark with its record, and keeps it through later repairs", async () => {
    await inspectBrowser();
    const lease = await held("a");
    await parts.store.drop(pool);
    await begin(2);
    browser = { ...browser, leaving: "NodeLeaving" };
    expect(await corrections()).toEqual(["Restored"]);
    const { leaving_since: since = 0, ...record } = (await recordOf(browser.id)) ?? expect.fail("it has a record");
    expect(since).toBeGreaterThanOrEqual(lease.created_at);
    const examined = await parts.repairs.examine(pool, browser.id);
    const earlier = { ...record, seq: record.seq + 1, leaving_since: since - 60_000 };
    expect(await parts.repairs.repair(pool, examined, { record: earlier, former: "kept" })).toBe(true);
    expect(await recordOf(browser.id)).toEqual(earlier);
  });

  test("is retired when an inspection finishes a step that was stuck on the way to idle", async () => {
    await inspectBrowser();
    await held("a");
    await createLeavingMarks(parts.redis).leave(pool, [browser.id], "NodeLeaving");
    await parts.store.release(pool, "a", "releasing", "released");
    await age();
    expect(await corrections()).toEqual(["OfferLost"]);
    expect(await recordOf(browser.id)).toMatchObject({ state: "retired", reason: "NodeLeaving" });
  });
});

describe("half-done steps", () => {
  // LEASE-44
  test("a grant that was never bound goes to the next caller; a late bind is refused, and the session has not ended", async () => {
    await inspectBrowser();
    const lease = await granted("a");
    expect(await names.reserve(pool, "name-a", { poolUid: pool, session: "a" })).toBe(true);
    expect(await inspectBrowser()).toMatchObject({ is: "later", corrected: [] });
    await age();
    await take("b");
    const woken = wakeOf("b");
    expect(await corrections()).toEqual(["NeverBound"]);
    // Its caller may take again.
    expect(await names.find(pool, "name-a")).toEqual({ poolUid: pool, session: "a" });
    expect(await woken).toMatchObject({ kind: "granted", lease: { seq: 2 } });
    expect(await bind(lease)).toEqual({ kind: "refused", code: "stale_fence" });
    expect(await parts.store.endedLease(pool, "a")).toBeUndefined();
    expect(await parts.store.lease(pool, "a")).toBeUndefined();
  });

  // LEASE-44
  test("a release that got stuck before the agent was told is finished", async () => {
    await inspectBrowser();
    await held("a");
    await parts.store.release(pool, "a", "releasing", "released");
    expect(await inspectBrowser()).toMatchObject({ is: "later" });
    await age();
    expect(await corrections()).toEqual(["OfferLost"]);
    expect(agent.holder()).toBeUndefined();
    expect(await stateOf(browser.id)).toBe("idle");
  });

  test("a release whose bind never arrived uses up its fence", async () => {
    await inspectBrowser();
    const lease = await granted("a");
    await parts.store.release(pool, "a", "releasing", "released");
    await age();
    expect(await corrections()).toEqual(["OfferLost"]);
    expect(await bind(lease)).toEqual({ kind: "refused", code: "stale_fence" });
    expect(agent.fence()).toEqual({ epoch: 1, seq: 1 });
  });

  test("a release whose agent is gone retires the browser", async () => {
    await inspectBrowser();
    await held("a");
    await parts.store.release(pool, "a", "releasing", "released");
    await age();
    await agent[Symbol.asyncDispose]();
    expect(await inspectBrowser()).toMatchObject({
      is: "done",
      corrected: [{ why: "Suspected" }, { why: "Retired", reason: "unreachable" }],
    });
    expect(await recordOf(browser.id)).toMatchObject({ state: "retired", reason: "unreachable" });
  });
});

describe("a suspect", () => {
  const rejected = async (reason: string): Promise<LeaseRecord> => {
    await inspectBrowser();
    const lease = await granted("a");
    await parts.store.reject(pool, lease, reason);
    return lease;
  };

  test("whose agent answers and holds no lease is idle again, and goes to the caller that was refused", async () => {
    await rejected("agent TimeoutError");
    const woken = wakeOf("a");
    expect(await corrections()).toEqual(["Cleared"]);
    expect(await woken).toMatchObject({ kind: "granted", lease: { browser: browser.id, seq: 2 } });
  });

  test("whose agent took the bind after all ends that lease first, and the session gets a new one", async () => {
    const lease = await rejected("agent TimeoutError");
    await bind(lease);
    expect(agent.holder()).toBe("a");
    expect(await corrections()).toEqual(["Cleared"]);
    expect(agent.holder()).toBeUndefined();
    expect(await parts.store.lease(pool, "a")).toMatchObject({ seq: 2 });
  });

  test("whose browser is not healthy is retired with the reason", async () => {
    await rejected("browser_unhealthy");
    expect((await inspectBrowser()).corrected).toEqual([{ why: "Retired", reason: "browser_unhealthy" }]);
    expect(await stateOf(browser.id)).toBe("retired");
  });
});

describe("writes that a failover has lost", () => {
  test("a grant: its lease is restored, and its holder is not disturbed", async () => {
    await inspectBrowser();
    await losing(() => held("a"));
    expect(await stateOf(browser.id)).toBe("idle");
    expect(await corrections()).toEqual(["Restored"]);
    expect(await parts.store.lease(pool, "a")).toMatchObject({ seq: 1 });
    expect(agent.holder()).toBe("a");
    expect((await take("b")).kind).toBe("waiting");
  });

  // LEASE-40
  test("a grant, after which another caller is given the browser: the agent refuses, and the holder keeps it", async () => {
    await inspectBrowser();
    await losing(() => held("a"));
    const other = await granted("b");
    expect(await bind(other)).toEqual({ kind: "refused", code: "stale_fence" });
    expect((await parts.store.reject(pool, other, "stale_fence")).kind).toBe("waiting");
    expect(await stateOf(browser.id)).toBe("suspect");
    expect(await corrections()).toEqual(["Restored"]);
    expect(await parts.store.lease(pool, "a")).toMatchObject({ seq: 1 });
    expect(agent.holder()).toBe("a");
  });

  // LEASE-56
  test("a release: the session has ended, its name is free, and the browser goes to a waiting caller", async () => {
    await inspectBrowser();
    await held("a");
    await losing(() => release("a"));
    expect(await stateOf(browser.id)).toBe("leased");
    await age();
    await take("b");
    const woken = wakeOf("b");
    expect(await names.reserve(pool, "name-a", { poolUid: pool, session: "a" })).toBe(true);
    expect(await corrections()).toEqual(["EndLost"]);
    expect(await parts.store.endedLease(pool, "a")).toMatchObject({ reason: "released" });
    expect(await names.find(pool, "name-a")).toBeUndefined();
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
    expect(await parts.store.endedLease(pool, "a")).toMatchObject({ reason: "released" });
    expect(await parts.store.lease(pool, "b")).toMatchObject({ seq: 2 });
    expect(agent.holder()).toBe("b");
  });

  test("a grant to a waiting caller: it has its browser, leaves the queue, and is told to ask again", async () => {
    await take("a");
    await losing(() => inspectBrowser().then(() => bindGranted("a")));
    expect((await parts.store.snapshot(pool)).waiting).toBe(1);
    const woken = wakeOf("a");
    expect(await corrections()).toEqual(["Restored"]);
    expect(await woken).toEqual({ kind: "recheck" });
    expect((await parts.store.snapshot(pool)).waiting).toBe(0);
    expect(await take("a")).toMatchObject({ kind: "granted", lease: { browser: browser.id, seq: 1 } });
  });

  test("a grant to a waiting caller, which was then granted a second browser without a bind: it keeps the first", async () => {
    await using second = await secondBrowser();
    await take("a");
    await losing(() => inspectBrowser().then(() => bindGranted("a")));
    expect(await second.corrections()).toEqual(["Registered"]);
    expect(await parts.store.lease(pool, "a")).toMatchObject({ browser: second.id });
    expect(await inspectBrowser()).toMatchObject({ is: "later", corrected: [] });
    await age(second.id);
    expect(await second.corrections()).toEqual(["NeverBound"]);
    expect(await corrections()).toEqual(["Restored"]);
    expect(await parts.store.lease(pool, "a")).toMatchObject({ browser: browser.id, seq: 1 });
    expect(agent.holder()).toBe("a");
  });

  describe("a bind without an answer, and the next one to another browser after recovery", () => {
    /** Both agents hold session "a", the second with a bind of a later epoch, and Redis has lost everything again. */
    const boundTwice = async () => {
      const second = await secondBrowser();
      // The clocks of nodes differ, so the times of the agents don't show which bind was later.
      agent.aheadMs = 60_000;
      await inspectBrowser();
      await held("a");
      await parts.store.drop(pool);
      await begin(2);
      await second.corrections();
      await granted("a").then(bind);
      expect([agent.holder(), second.agent.holder()]).toEqual(["a", "a"]);
      await parts.store.drop(pool);
      await begin(3);
      return second;
    };

    test("the caller keeps the later browser when the earlier one is inspected first", async () => {
      await using second = await boundTwice();
      expect(await corrections()).toEqual(["Restored"]);
      expect(await second.corrections()).toEqual(["Restored"]);
      expect(await parts.store.lease(pool, "a")).toMatchObject({ browser: second.id });
      await age();
      expect(await corrections()).toEqual(["OfferLost"]);
      expect([agent.holder(), second.agent.holder()]).toEqual([undefined, "a"]);
    });

    test("the caller keeps the later browser when that is inspected first", async () => {
      await using second = await boundTwice();
      expect(await second.corrections()).toEqual(["Restored"]);
      expect(await corrections()).toEqual(["Registered"]);
      expect(await parts.store.lease(pool, "a")).toMatchObject({ browser: second.id });
      expect([agent.holder(), second.agent.holder()]).toEqual([undefined, "a"]);
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
    const owner = keeps === "first" ? browser.id : second.id;
    expect(await parts.store.lease(pool, "a")).toMatchObject({ browser: owner });
  });

  // LEASE-40, LEASE-45
  test("a second lease of the same browser by the same session: it is restored in place of the first, and has not ended", async () => {
    await inspectBrowser();
    const first = await granted("a");
    await losing(async () => {
      expect((await parts.store.reject(pool, first, "agent TimeoutError")).kind).toBe("waiting");
      expect(await corrections()).toEqual(["Cleared"]);
      await bindGranted("a");
    });
    expect(await parts.store.lease(pool, "a")).toMatchObject({ seq: 1 });
    expect(await names.reserve(pool, "name-a", { poolUid: pool, session: "a" })).toBe(true);
    await begin(2);
    expect(await corrections()).toEqual(["Restored"]);
    expect(await parts.store.lease(pool, "a")).toMatchObject({ browser: browser.id, epoch: 1, seq: 2 });
    expect(await parts.store.endedLease(pool, "a")).toBeUndefined();
    expect(await names.find(pool, "name-a")).toEqual({ poolUid: pool, session: "a" });
    expect(agent.holder()).toBe("a");
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
    const before = await recordOf(browser.id);
    expect(await corrections()).toEqual(["SeqRaised"]);
    expect(await recordOf(browser.id)).toEqual({ ...before, seq: 2 });
    expect(await held("c")).toMatchObject({ seq: 3 });
  });
});

describe("at the same time as other changes", () => {
  test("a record that changes while the agent is asked is diagnosed again, and not repaired", async () => {
    await inspectBrowser();
    await losing(() => held("lost").then(() => release("lost")));
    let asked = 0;
    const state: InspectDeps["agents"]["state"] = async (...args) => {
      const answer = await parts.agents.state(...args);
      asked += 1;
      if (asked === 1) await granted("a");
      return answer;
    };
    expect(await inspectBrowser({ agents: { ...parts.agents, state } })).toMatchObject({ is: "later", corrected: [] });
    expect(asked).toBe(2);
    expect(await recordOf(browser.id)).toMatchObject({ state: "leased", session: "a" });
  });

  test("an inspection under an old epoch changes nothing, and its agent is not asked", async () => {
    await inspectBrowser();
    await parts.repairs.establish(pool, 2);
    expect(await inspectBrowser()).toMatchObject({ is: "outdated", corrected: [] });
    expect(agent.fence().epoch).toBe(1);
    epoch = 2;
    expect(await inspectBrowser()).toMatchObject({ is: "done" });
    expect(agent.fence().epoch).toBe(2);
  });

  test("an agent that was asked under a later epoch shows that Redis is behind", async () => {
    await parts.agents.state({ browser: browser.id, pod: browser.pod, address: agent.address }, 7);
    expect(await inspectBrowser()).toEqual({ is: "ahead", epoch: 7, corrected: [] });
    expect(await recordOf(browser.id)).toBeUndefined();
  });

  test("an inspection stops before its next effect when the operator no longer leads", async () => {
    const check = (): void => {
      throw new Error("not leading");
    };
    await expect(inspectBrowser({ check })).rejects.toThrow("not leading");
    expect(agent.fence().epoch).toBe(0);
    expect(await recordOf(browser.id)).toBeUndefined();
  });
});

describe("an epoch", () => {
  test("begins once, above all earlier ones, and recovers until the operator ends the recovery", async () => {
    expect(await parts.store.isRecovering(newId())).toBe(true);
    expect(await parts.store.isRecovering(pool)).toBe(false);
    expect(await parts.repairs.establish(pool, 1)).toBe(false);
    await begin(3);
    expect(await parts.repairs.establish(pool, 2)).toBe(false);
    expect(await parts.repairs.epoch(pool)).toBe(3);
    expect(await parts.store.isRecovering(pool)).toBe(true);
    expect((await parts.store.snapshot(pool)).recoveringSinceMs).toBeGreaterThan(0);
    expect(await parts.repairs.recovered(pool, 2)).toBe(false);
    expect(await parts.repairs.recovered(pool, 3)).toBe(true);
    expect(await parts.store.isRecovering(pool)).toBe(false);
  });
});

describe("a browser that is given up", () => {
  const giveUp = (): Promise<boolean> => retireUnknown({ poolUid: pool, epoch, browser }, parts.repairs);

  test("during its inspection is not registered any more", async () => {
    const state: InspectDeps["agents"]["state"] = async (...asked) => {
      const answer = await parts.agents.state(...asked);
      expect(await giveUp()).toBe(true);
      return answer;
    };
    expect(await corrections({ agents: { ...parts.agents, state } })).toEqual([]);
    expect(await stateOf(browser.id)).toBe("retired");
  });

  test("after its registration stays in the pool", async () => {
    expect(await corrections()).toEqual(["Registered"]);
    expect(await giveUp()).toBe(false);
    expect(await stateOf(browser.id)).toBe("idle");
  });
});

// LEASE-55
test("an agent that does not take the operator's token is asked again later, and nothing is concluded from it", async () => {
  await corrections();
  agent.behaviour = "unauthorized";
  const before = await recordOf(browser.id);
  expect(await inspectBrowser()).toMatchObject({ is: "later", corrected: [] });
  expect(await recordOf(browser.id)).toEqual(before);
});
