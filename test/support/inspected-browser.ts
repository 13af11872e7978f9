/**
 * A browser with a small agent in a pool of a real Redis, anew for each test, and what can happen to it before an
 * inspection.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import type { Grants } from "../../src/core/leases/grants.ts";
import { type InspectDeps, type InspectResult, inspect } from "../../src/core/leases/inspect.ts";
import type { NewBrowser } from "../../src/core/leases/lease-store.ts";
import { poolKey } from "../../src/core/leases/pool-keys.ts";
import type { LeaseRecord } from "../../src/core/leases/records.ts";
import { releaseLease } from "../../src/core/leases/release-lease.ts";
import { newId } from "../../src/core/objects/new-id.ts";
import { createSessionNames, type SessionNames } from "../../src/core/reservations/session-names.ts";
import { leaseCalls } from "./lease-calls.ts";
import { type LeaseParts, type SmallAgent, startLeaseParts, startSmallAgent, usualPod } from "./lease-parts.ts";

/** What a test has, and may replace. `epoch`: under which inspections run. */
type Inspected = {
  parts: LeaseParts;
  names: SessionNames;
  replica: Grants;
  pool: string;
  epoch: number;
  agent: SmallAgent;
  browser: NewBrowser;
};

/** Sets up before the tests of the file that calls it, and ends after them. */
export const inspectedBrowser = () => {
  const it = {} as Inspected;
  const { recordOf, stateOf, wakeOf } = leaseCalls(() => it);

  const begin = async (epoch: number): Promise<void> => {
    it.epoch = epoch;
    expect(await it.parts.repairs.establish(it.pool, epoch)).toBe(true);
  };
  /** Another pool with a browser that no inspection has seen, under epoch 1. */
  const makeAnew = async (): Promise<void> => {
    await it.agent?.[Symbol.asyncDispose]();
    it.pool = newId();
    it.agent = await startSmallAgent();
    it.browser = { id: newId(), pod: usualPod, address: it.agent.address, configHash: "hash" };
    await begin(1);
  };
  beforeAll(async () => {
    it.parts = await startLeaseParts();
    it.names = createSessionNames(it.parts.redis, it.parts.store);
    it.replica = await it.parts.replica();
  });
  afterAll(() => it.parts?.[Symbol.asyncDispose]());
  beforeEach(makeAnew);
  afterEach(() => it.agent?.[Symbol.asyncDispose]());

  const depsWith = (more: Partial<InspectDeps> = {}): InspectDeps => ({
    repairs: it.parts.repairs,
    agents: it.parts.agents,
    names: it.names,
    check: () => undefined,
    ...more,
  });
  const inspectBrowser = (more: Partial<InspectDeps> = {}): Promise<InspectResult> =>
    inspect({ poolUid: it.pool, epoch: it.epoch, browser: it.browser }, depsWith(more));

  const requestOf = (session: string): string =>
    JSON.stringify({
      timeout_seconds: 60,
      max_session_seconds: 3600,
      name: `name-${session}`,
      pool: { id: "p", uid: it.pool },
      project: it.pool,
    });
  const take = async (session: string) => {
    await it.replica.follow(it.pool);
    return it.parts.store.take(it.pool, { session, channel: it.replica.channel(it.pool), request: requestOf(session) });
  };
  const granted = async (session: string): Promise<LeaseRecord> => {
    const outcome = await take(session);
    if (outcome.kind !== "granted") throw new Error(outcome.kind);
    return outcome.lease;
  };
  const bind = ({ session, seq, request, ...lease }: LeaseRecord) =>
    it.parts.agents.bind(
      { session, seq, request, ...lease },
      { session_id: session, epoch: lease.epoch, seq, timeout_seconds: 60, max_seconds: 3600, request },
    );

  return Object.assign(it, {
    recordOf,
    stateOf,
    wakeOf,
    begin,
    makeAnew,
    depsWith,
    inspectBrowser,
    take,
    granted,
    bind,
    /** What an inspection corrects, by its names. */
    async corrections(more: Partial<InspectDeps> = {}): Promise<string[]> {
      return (await inspectBrowser(more)).corrected.map(({ why }) => why);
    },
    async held(session: string): Promise<LeaseRecord> {
      const lease = await granted(session);
      expect((await bind(lease)).kind).toBe("ok");
      return lease;
    },
    /** A registered browser whose caller has rejected it. */
    async rejected(reason: string): Promise<LeaseRecord> {
      await inspectBrowser();
      const lease = await granted("a");
      await it.parts.store.reject(it.pool, lease, reason);
      return lease;
    },
    release: (session: string) =>
      releaseLease({ poolUid: it.pool, session, reuse: "reset", reason: "released" }, it.parts),
    reserveName: (session: string): Promise<boolean> =>
      it.names.reserve(it.pool, `name-${session}`, { poolUid: it.pool, session }),
    /** Makes the record look as if it had entered its state a minute ago. */
    async age(id = it.browser.id): Promise<void> {
      const record = await recordOf(id);
      const text = JSON.stringify({ ...record, since: (record?.since ?? 0) - 60_000 });
      await it.parts.redis.hset(poolKey(it.pool, "browsers"), id, text);
    },
    /** Does what a failover to a replica that lagged behind does: `work` has happened, and Redis has lost it. */
    async losing(work: () => Promise<unknown>): Promise<void> {
      const { redis, store } = it.parts;
      const keyParts = ["pool", "browsers", "idle", "waiters", "requests", "leases", "ended", "ended_at"] as const;
      const keys = keyParts.map((part) => poolKey(it.pool, part));
      const before = await Promise.all(keys.map(async (key) => ({ key, dump: await redis.dumpBuffer(key) })));
      await work();
      await store.drop(it.pool);
      for (const { key, dump } of before) if (dump) await redis.restore(key, 0, dump);
    },
  });
};
