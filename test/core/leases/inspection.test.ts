/** Inspections on a real Redis, with small agents that have the real fence (diagnose.test.ts has every diagnosis). */
import { describe, expect, test } from "vitest";
import { type InspectDeps, inspect } from "../../../src/core/leases/inspect.ts";
import { createLeavingMarks } from "../../../src/core/leases/leaving-marks.ts";
import type { LeaseRecord } from "../../../src/core/leases/records.ts";
import { retireUnknown } from "../../../src/core/leases/repair-store.ts";
import { newId } from "../../../src/core/objects/new-id.ts";
import { inspectedBrowser } from "../../support/inspected-browser.ts";

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
  rejected,
  release,
  reserveName,
  age,
  losing,
} = it;

// LEASE-40
test("a browser that is idle again by a failover stays its holder's, also when it is granted before the inspection under the new epoch", async () => {
  await inspectBrowser();
  await losing(() => held("a"));
  await begin(2);
  const other = await granted("b");
  expect(await bind(other)).toMatchObject({ kind: "refused", code: "stale_fence" });
  expect(await it.parts.agents.end(other, "reset")).toMatchObject({ kind: "refused", code: "not_holder" });
  expect(it.agent.holder()).toBe("a");
  expect((await it.parts.store.reject(it.pool, other, "stale_fence")).kind).toBe("waiting");
  expect(await corrections()).toEqual(["Restored"]);
  expect(await it.parts.store.lease(it.pool, "a")).toMatchObject({ browser: it.browser.id, epoch: 1, seq: 1 });
});

describe("a browser without a record", () => {
  test("registers as idle once, and goes to a waiting caller", async () => {
    await take("a");
    const woken = wakeOf("a");
    expect(await corrections()).toEqual(["Registered"]);
    expect(await woken).toMatchObject({ kind: "granted", lease: { browser: it.browser.id, epoch: 1, seq: 1 } });
    expect(await corrections()).toEqual([]);
    expect(await recordOf(it.browser.id)).toMatchObject({ state: "leased", session: "a" });
  });

  // LEASE-45
  test("comes back after a loss of all data with its lease, which works as before, and its name", async () => {
    await inspectBrowser();
    const lease = await held("a");
    await it.parts.store.drop(it.pool);
    await begin(2);
    expect(await corrections()).toEqual(["Restored"]);
    expect(await it.parts.store.lease(it.pool, "a")).toMatchObject({
      session: "a",
      browser: it.browser.id,
      pod: it.browser.pod,
      address: it.agent.address,
      config: "hash",
      epoch: 1,
      seq: 1,
      request: lease.request,
    });
    expect(await it.names.find(it.pool, "name-a")).toEqual({ poolUid: it.pool, session: "a" });
    expect(it.agent.holder()).toBe("a");
    expect((await take("b")).kind).toBe("waiting");
    const woken = wakeOf("b");
    await release("a");
    expect(it.agent.holder()).toBeUndefined();
    expect(await woken).toMatchObject({ kind: "granted", lease: { epoch: 2, seq: 2 } });
  });

  test("refuses a bind that was sent before all data was lost", async () => {
    await inspectBrowser();
    const lease = await granted("a");
    await it.parts.store.drop(it.pool);
    await begin(2);
    expect(await corrections()).toEqual(["Registered"]);
    expect(await bind(lease)).toEqual({ kind: "refused", code: "stale_fence" });
    expect(it.agent.holder()).toBeUndefined();
    await held("b");
    expect(it.agent.holder()).toBe("b");
  });

  test("is inspected again when a bind is in progress or its agent does not answer", async () => {
    it.agent.behaviour = "hold";
    const lease = {
      session: "a",
      browser: it.browser.id,
      address: it.agent.address,
      epoch: 1,
      seq: 1,
      request: "{}",
    } as LeaseRecord;
    const binding = bind(lease);
    await it.agent.asked;
    expect(await inspectBrowser()).toMatchObject({ is: "later" });
    it.agent.letGo();
    await binding;
    const address = "127.0.0.9:9";
    expect(
      await inspect({ poolUid: it.pool, epoch: it.epoch, browser: { ...it.browser, address } }, depsWith()),
    ).toMatchObject({
      is: "silent",
    });
    expect(await recordOf(it.browser.id)).toBeUndefined();
  });
});

describe("a browser with a leaving mark", () => {
  test("registers as retired, and waiting callers keep waiting", async () => {
    await take("a");
    it.browser = { ...it.browser, leaving: "NodeLeaving" };
    expect(await corrections()).toEqual(["Registered"]);
    expect(await recordOf(it.browser.id)).toMatchObject({ state: "retired", reason: "NodeLeaving" });
    expect((await it.parts.store.snapshot(it.pool)).waiting).toBe(1);
  });

  test("comes back after a loss of all data with its lease, and leaves when the lease ends", async () => {
    await inspectBrowser();
    await held("a");
    await it.parts.store.drop(it.pool);
    await begin(2);
    it.browser = { ...it.browser, leaving: "Evicted" };
    expect(await corrections()).toEqual(["Restored"]);
    expect(await recordOf(it.browser.id)).toMatchObject({ state: "leased", session: "a", leaving: "Evicted" });
    await release("a");
    expect(await recordOf(it.browser.id)).toMatchObject({ state: "retired", reason: "Evicted" });
  });

  // LEASE-51
  test("gets the time of its mark with its record, and keeps it through later repairs", async () => {
    await inspectBrowser();
    const lease = await held("a");
    await it.parts.store.drop(it.pool);
    await begin(2);
    it.browser = { ...it.browser, leaving: "NodeLeaving" };
    expect(await corrections()).toEqual(["Restored"]);
    const { leaving_since: since = 0, ...record } = (await recordOf(it.browser.id)) ?? expect.fail("it has a record");
    expect(since).toBeGreaterThanOrEqual(lease.created_at);
    const examined = await it.parts.repairs.examine(it.pool, it.browser.id);
    const earlier = { ...record, seq: record.seq + 1, leaving_since: since - 60_000 };
    expect(await it.parts.repairs.repair(it.pool, examined, { record: earlier, former: "kept" })).toBe(true);
    expect(await recordOf(it.browser.id)).toEqual(earlier);
  });

  test("is retired when an inspection finishes a step that was stuck on the way to idle", async () => {
    await inspectBrowser();
    await held("a");
    await createLeavingMarks(it.parts.redis).leave(it.pool, [it.browser.id], "NodeLeaving");
    await it.parts.store.release(it.pool, "a", "releasing", "released");
    await age();
    expect(await corrections()).toEqual(["OfferLost"]);
    expect(await recordOf(it.browser.id)).toMatchObject({ state: "retired", reason: "NodeLeaving" });
  });
});

describe("half-done steps", () => {
  // LEASE-44
  test("a grant that was never bound goes to the next caller; a late bind is refused, and the session has not ended", async () => {
    await inspectBrowser();
    const lease = await granted("a");
    expect(await reserveName("a")).toBe(true);
    expect(await inspectBrowser()).toMatchObject({ is: "later", corrected: [] });
    await age();
    await take("b");
    const woken = wakeOf("b");
    expect(await corrections()).toEqual(["NeverBound"]);
    // Its caller may take again.
    expect(await it.names.find(it.pool, "name-a")).toEqual({ poolUid: it.pool, session: "a" });
    expect(await woken).toMatchObject({ kind: "granted", lease: { seq: 2 } });
    expect(await bind(lease)).toEqual({ kind: "refused", code: "stale_fence" });
    expect(await it.parts.store.endedLease(it.pool, "a")).toBeUndefined();
    expect(await it.parts.store.lease(it.pool, "a")).toBeUndefined();
  });

  // LEASE-44
  test("a release that got stuck before the agent was told is finished", async () => {
    await inspectBrowser();
    await held("a");
    await it.parts.store.release(it.pool, "a", "releasing", "released");
    expect(await inspectBrowser()).toMatchObject({ is: "later" });
    await age();
    expect(await corrections()).toEqual(["OfferLost"]);
    expect(it.agent.holder()).toBeUndefined();
    expect(await stateOf(it.browser.id)).toBe("idle");
  });

  test("a release whose bind never arrived uses up its fence", async () => {
    await inspectBrowser();
    const lease = await granted("a");
    await it.parts.store.release(it.pool, "a", "releasing", "released");
    await age();
    expect(await corrections()).toEqual(["OfferLost"]);
    expect(await bind(lease)).toEqual({ kind: "refused", code: "stale_fence" });
    expect(it.agent.fence()).toEqual({ epoch: 1, seq: 1 });
  });

  test("a release whose agent is gone retires the browser", async () => {
    await inspectBrowser();
    await held("a");
    await it.parts.store.release(it.pool, "a", "releasing", "released");
    await age();
    await it.agent[Symbol.asyncDispose]();
    expect(await inspectBrowser()).toMatchObject({
      is: "done",
      corrected: [{ why: "Suspected" }, { why: "Retired", reason: "unreachable" }],
    });
    expect(await recordOf(it.browser.id)).toMatchObject({ state: "retired", reason: "unreachable" });
  });
});

describe("a suspect", () => {
  test("whose agent answers and holds no lease is idle again, and goes to the caller that was refused", async () => {
    await rejected("agent TimeoutError");
    const woken = wakeOf("a");
    expect(await corrections()).toEqual(["Cleared"]);
    expect(await woken).toMatchObject({ kind: "granted", lease: { browser: it.browser.id, seq: 2 } });
  });

  test("whose agent took the bind after all ends that lease first, and the session gets a new one", async () => {
    const lease = await rejected("agent TimeoutError");
    await bind(lease);
    expect(it.agent.holder()).toBe("a");
    expect(await corrections()).toEqual(["Cleared"]);
    expect(it.agent.holder()).toBeUndefined();
    expect(await it.parts.store.lease(it.pool, "a")).toMatchObject({ seq: 2 });
  });

  test("whose browser is not healthy is retired with the reason", async () => {
    await rejected("browser_unhealthy");
    expect((await inspectBrowser()).corrected).toEqual([{ why: "Retired", reason: "browser_unhealthy" }]);
    expect(await stateOf(it.browser.id)).toBe("retired");
  });
});

describe("at the same time as other changes", () => {
  test("a record that changes while the agent is asked is diagnosed again, and not repaired", async () => {
    await inspectBrowser();
    await losing(() => held("lost").then(() => release("lost")));
    let asked = 0;
    const state: InspectDeps["agents"]["state"] = async (...args) => {
      const answer = await it.parts.agents.state(...args);
      asked += 1;
      if (asked === 1) await granted("a");
      return answer;
    };
    expect(await inspectBrowser({ agents: { ...it.parts.agents, state } })).toMatchObject({
      is: "later",
      corrected: [],
    });
    expect(asked).toBe(2);
    expect(await recordOf(it.browser.id)).toMatchObject({ state: "leased", session: "a" });
  });

  test("an inspection under an old epoch changes nothing, and its agent is not asked", async () => {
    await inspectBrowser();
    await it.parts.repairs.establish(it.pool, 2);
    expect(await inspectBrowser()).toMatchObject({ is: "outdated", corrected: [] });
    expect(it.agent.fence().epoch).toBe(1);
    it.epoch = 2;
    expect(await inspectBrowser()).toMatchObject({ is: "done" });
    expect(it.agent.fence().epoch).toBe(2);
  });

  test("an agent that was asked under a later epoch shows that Redis is behind", async () => {
    await it.parts.agents.state({ browser: it.browser.id, pod: it.browser.pod, address: it.agent.address }, 7);
    expect(await inspectBrowser()).toEqual({ is: "ahead", epoch: 7, corrected: [] });
    expect(await recordOf(it.browser.id)).toBeUndefined();
  });

  test("an inspection stops before its next effect when the operator no longer leads", async () => {
    const check = (): void => {
      throw new Error("not leading");
    };
    await expect(inspectBrowser({ check })).rejects.toThrow("not leading");
    expect(it.agent.fence().epoch).toBe(0);
    expect(await recordOf(it.browser.id)).toBeUndefined();
  });
});

describe("an epoch", () => {
  test("begins once, above all earlier ones, and recovers until the operator ends the recovery", async () => {
    expect(await it.parts.store.isRecovering(newId())).toBe(true);
    expect(await it.parts.store.isRecovering(it.pool)).toBe(false);
    expect(await it.parts.repairs.establish(it.pool, 1)).toBe(false);
    await begin(3);
    expect(await it.parts.repairs.establish(it.pool, 2)).toBe(false);
    expect(await it.parts.repairs.epoch(it.pool)).toBe(3);
    expect(await it.parts.store.isRecovering(it.pool)).toBe(true);
    expect((await it.parts.store.snapshot(it.pool)).recoveringSinceMs).toBeGreaterThan(0);
    expect(await it.parts.repairs.recovered(it.pool, 2)).toBe(false);
    expect(await it.parts.repairs.recovered(it.pool, 3)).toBe(true);
    expect(await it.parts.store.isRecovering(it.pool)).toBe(false);
  });
});

describe("a browser that is given up", () => {
  const giveUp = (): Promise<boolean> =>
    retireUnknown({ poolUid: it.pool, epoch: it.epoch, browser: it.browser }, it.parts.repairs);

  test("during its inspection is not registered any more", async () => {
    const state: InspectDeps["agents"]["state"] = async (...asked) => {
      const answer = await it.parts.agents.state(...asked);
      expect(await giveUp()).toBe(true);
      return answer;
    };
    expect(await corrections({ agents: { ...it.parts.agents, state } })).toEqual([]);
    expect(await stateOf(it.browser.id)).toBe("retired");
  });

  test("after its registration stays in the pool", async () => {
    expect(await corrections()).toEqual(["Registered"]);
    expect(await giveUp()).toBe(false);
    expect(await stateOf(it.browser.id)).toBe("idle");
  });
});

// LEASE-55
test("an agent that does not take the operator's token is asked again later, and nothing is concluded from it", async () => {
  await corrections();
  it.agent.behaviour = "unauthorized";
  const before = await recordOf(it.browser.id);
  expect(await inspectBrowser()).toMatchObject({ is: "later", corrected: [] });
  expect(await recordOf(it.browser.id)).toEqual(before);
});
