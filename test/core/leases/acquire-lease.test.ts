/** How a caller gets a browser when agents are healthy, refuse, hang or are dead. */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createAbandonedSessions } from "../../../src/core/leases/abandoned-sessions.ts";
import { type Acquired, acquireLease } from "../../../src/core/leases/acquire-lease.ts";
import type { LeaseRecord } from "../../../src/core/leases/records.ts";
import { releaseLease } from "../../../src/core/leases/release-lease.ts";
import { newId } from "../../../src/core/objects/new-id.ts";
import { unavailable } from "../../../src/platform/base/errors.ts";
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
let grants: Awaited<ReturnType<LeaseParts["replica"]>>;
let poolUid: string;
let agents: SmallAgent[] = [];

beforeAll(async () => {
  parts = await startLeaseParts();
  grants = await parts.replica();
});
afterAll(() => parts[Symbol.asyncDispose]());
beforeEach(() => {
  poolUid = newId();
});
afterEach(async () => {
  await Promise.all(agents.map((agent) => agent[Symbol.asyncDispose]()));
  agents = [];
});

const browser = async (behaviour: Behaviour = "ok"): Promise<{ id: string; agent: SmallAgent }> => {
  const agent = await startSmallAgent(behaviour);
  agents.push(agent);
  return { id: await parts.addBrowser(poolUid, agent.address), agent };
};
const request = () => ({
  timeout_seconds: 60,
  max_session_seconds: 3600,
  pool: { id: "pool", uid: poolUid },
  project: "project",
});
const acquire = (session: string, { signal = new AbortController().signal, waitMs = 20_000 } = {}): Promise<Acquired> =>
  acquireLease({ poolUid, session, request: request(), waitMs }, { ...parts, grants, log: silent }, signal);
const heldBy = async (acquiring: Promise<Acquired>): Promise<LeaseRecord> => {
  const acquired = await acquiring;
  if (acquired.kind !== "held") throw new Error(acquired.kind);
  return acquired.lease;
};
const stateOf = async (id: string): Promise<string | undefined> =>
  (await parts.store.snapshot(poolUid)).browsers.find((record) => record.id === id)?.state;
const waiters = async (): Promise<number> => (await parts.store.snapshot(poolUid)).waiting;
const whenWaiting = (count: number) => eventually(`${count} wait`, async () => (await waiters()) === count);

describe("a caller", () => {
  // LEASE-1
  test("gets an idle browser that its agent has bound", async () => {
    const { id, agent } = await browser();
    expect((await heldBy(acquire("a"))).browser).toBe(id);
    expect(agent.holder()).toBe("a");
  });

  // LEASE-39
  test("gets the next one when the agent refuses, gives a false answer, is dead or does not answer in time", async () => {
    const refusing = await browser("refuse");
    const lying = await browser("lie");
    const dead = await browser();
    await dead.agent[Symbol.asyncDispose]();
    const hanging = await browser("hold");
    const good = await browser();
    expect((await heldBy(acquire("a"))).browser).toBe(good.id);
    const bad = [refusing.id, lying.id, dead.id, hanging.id];
    expect(await Promise.all(bad.map(stateOf))).toEqual(["suspect", "suspect", "suspect", "suspect"]);
  });

  // LEASE-55
  test("is told to repeat when an agent does not take its replica's token; the browser stays idle, and so does a used one", async () => {
    const { id, agent } = await browser("unauthorized");
    await expect(acquire("a")).rejects.toMatchObject({ code: "unavailable" });
    expect([await stateOf(id), await parts.store.counts(poolUid)]).toEqual(["idle", { acquired: 0, available: 1 }]);
    agent.behaviour = "ok";
    await heldBy(acquire("b"));
    agent.behaviour = "unauthorized";
    await releaseLease({ poolUid, session: "b", reuse: "reset", reason: "released" }, parts);
    expect(await stateOf(id)).toBe("releasing");
  });

  // LEASE-3
  test("tries no further browser when its time is up after one that did not answer", async () => {
    const hanging = await browser("hold");
    const good = await browser();
    expect(await acquire("a", { waitMs: 1000 })).toEqual({ kind: "timeout" });
    expect([await stateOf(hanging.id), await stateOf(good.id)]).toEqual(["suspect", "idle"]);
    expect(good.agent.fence().seq).toBe(0);
  });

  test("waits when all agents refuse, and gets the next browser that becomes idle", async () => {
    await browser("refuse");
    const acquiring = acquire("a");
    await whenWaiting(1);
    const good = await browser();
    expect((await heldBy(acquiring)).browser).toBe(good.id);
  });

  // LEASE-3
  test("is told when its wait times out, and leaves the queue", async () => {
    expect(await acquire("a", { waitMs: 50 })).toEqual({ kind: "timeout" });
    expect(await waiters()).toBe(0);
  });

  test("is told when the pool drains", async () => {
    const acquiring = acquire("a");
    await whenWaiting(1);
    await parts.store.drain(poolUid, { evenIfLeased: true });
    expect(await acquiring).toEqual({ kind: "draining" });
  });

  // LEASE-42
  test("gets its grant although the message was lost", async () => {
    const acquiring = acquire("a");
    await whenWaiting(1);
    // The connection of its replica breaks, and the grant happens before the replica reconnects.
    grants.cut();
    const { id } = await browser();
    expect((await heldBy(acquiring)).browser).toBe(id);
  });
});

describe("a caller that hangs up", () => {
  const gone = new Error("the caller has hung up");

  // LEASE-5
  test("leaves the queue and takes no browser when it was waiting", async () => {
    const caller = new AbortController();
    const acquiring = acquire("a", { signal: caller.signal });
    await whenWaiting(1);
    caller.abort(gone);
    await expect(acquiring).rejects.toBe(gone);
    await whenWaiting(0);
    const { id } = await browser();
    expect(await stateOf(id)).toBe("idle");
  });

  test("gives its browser to the next caller when the bind was in progress", async () => {
    const { id, agent } = await browser("hold");
    const caller = new AbortController();
    const acquiring = acquire("a", { signal: caller.signal });
    await agent.asked;
    const next = acquire("b");
    await whenWaiting(1);
    caller.abort(gone);
    agent.behaviour = "ok";
    agent.letGo();
    await expect(acquiring).rejects.toBe(gone);
    expect(await heldBy(next)).toMatchObject({ browser: id, seq: 2 });
    expect(agent.holder()).toBe("b");
  });

  // LEASE-5
  test("leaves the browser idle or with the next holder, at whatever moment it hangs up", async () => {
    const { id } = await browser();
    for (let round = 0; round < 60; round++) {
      const caller = new AbortController();
      const session = newId();
      const acquiring = acquire(session, { signal: caller.signal });
      setTimeout(() => caller.abort(gone), Math.random() * 4);
      const acquired = await acquiring.catch(() => undefined);
      if (acquired) await releaseLease({ poolUid, session, reuse: "reset", reason: "released" }, parts);
      await eventually("the browser is idle again", async () => (await stateOf(id)) === "idle");
    }
    expect(await parts.store.counts(poolUid)).toEqual({ acquired: 0, available: 1 });
    expect(await waiters()).toBe(0);
  });
});

describe("an abandoned session", () => {
  const gone = new Error("the caller has hung up");

  test("is given back before the service has stopped", async () => {
    const { id, agent } = await browser("hold");
    const caller = new AbortController();
    const acquiring = acquire("a", { signal: caller.signal });
    await agent.asked;
    caller.abort(gone);
    agent.letGo();
    await expect(acquiring).rejects.toBe(gone);
    await parts.abandonedSessions.drain(5000);
    expect([await stateOf(id), agent.holder()]).toEqual(["idle", undefined]);
  });

  test("does not delay the stop beyond its deadline when Redis is away", async () => {
    // Fails by its time-out when the drain does not give up, or by the rejection of Redis.
    const away = { ...parts.store, cancel: () => Promise.reject(unavailable("Redis")) };
    const abandonedSessions = createAbandonedSessions({ ...parts, store: away, log: silent });
    abandonedSessions.add(poolUid, "a");
    await abandonedSessions.drain(10);
  });
});

describe("a release", () => {
  // LEASE-43
  test("offers the browser when the agent confirms the end", async () => {
    const { id, agent } = await browser();
    await acquire("a");
    const ended = await releaseLease({ poolUid, session: "a", reuse: "reset", reason: "released" }, parts);
    expect(ended?.session).toBe("a");
    expect([await stateOf(id), agent.holder()]).toEqual(["idle", undefined]);
    expect(await releaseLease({ poolUid, session: "a", reuse: "reset", reason: "released" }, parts)).toBeUndefined();
  });

  // LEASE-43
  test("makes the browser suspect when the agent does not confirm the end", async () => {
    const { id, agent } = await browser();
    await acquire("a");
    await agent[Symbol.asyncDispose]();
    await releaseLease({ poolUid, session: "a", reuse: "reset", reason: "released" }, parts);
    expect(await stateOf(id)).toBe("suspect");
  });

  // LEASE-29, LEASE-43
  test("offers a browser that is reset to the first waiter when it is up again, and to nobody before", async () => {
    const { id, agent } = await browser("reset");
    await acquire("a");
    await releaseLease({ poolUid, session: "a", reuse: "reset", reason: "released" }, parts);
    const next = acquire("b");
    await whenWaiting(1);
    expect([await stateOf(id), agent.holder()]).toEqual(["releasing", undefined]);
    agent.endReset();
    expect(await heldBy(next)).toMatchObject({ browser: id, seq: 2 });
  });

  test("leaves a browser that is reset to the audit when the service stops before it is up", async () => {
    const { id } = await browser("reset");
    await acquire("a");
    await releaseLease({ poolUid, session: "a", reuse: "reset", reason: "released" }, parts);
    await parts.returningBrowsers.drain(10);
    expect(await stateOf(id)).toBe("releasing");
  });

  test("makes a browser that does not come back from its reset suspect", async () => {
    const { id, agent } = await browser("reset");
    await acquire("a");
    await releaseLease({ poolUid, session: "a", reuse: "reset", reason: "released" }, parts);
    await agent[Symbol.asyncDispose]();
    await eventually("it is suspect", async () => (await stateOf(id)) === "suspect");
  });

  // LEASE-28
  test("that keeps the browser offers it at once", async () => {
    const { id } = await browser("reset");
    await acquire("a");
    await releaseLease({ poolUid, session: "a", reuse: "keep", reason: "released" }, parts);
    expect(await stateOf(id)).toBe("idle");
  });

  // LEASE-30
  test("without reuse retires the browser, whatever the agent answers", async () => {
    const { id, agent } = await browser();
    await acquire("a");
    await agent[Symbol.asyncDispose]();
    await releaseLease({ poolUid, session: "a", reuse: "none", reason: "released" }, parts);
    expect(await stateOf(id)).toBe("retired");
  });
});
