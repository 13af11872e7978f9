/**
 * Calls of the lease scripts whose caller has read what holds no more, or that come twice because an answer was lost:
 * each answers as its script says, and changes nothing at all in the pool.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createEndedLeases } from "../../../src/core/leases/ended-leases.ts";
import type { Grants } from "../../../src/core/leases/grants.ts";
import type { LeaseStore } from "../../../src/core/leases/lease-store.ts";
import { createLeavingMarks, type LeavingMarks } from "../../../src/core/leases/leaving-marks.ts";
import type { LeaseRecord } from "../../../src/core/leases/records.ts";
import type { Repair } from "../../../src/core/leases/repair-store.ts";
import { newId } from "../../../src/core/objects/new-id.ts";
import { leaseCalls } from "../../support/lease-calls.ts";
import { type LeaseParts, startLeaseParts } from "../../support/lease-parts.ts";
import { poolData } from "../../support/pool-data.ts";

let parts: LeaseParts;
let store: LeaseStore;
let marks: LeavingMarks;
let replica: Grants;
let pool: string;

beforeAll(async () => {
  parts = await startLeaseParts();
  store = parts.store;
  marks = createLeavingMarks(parts.redis);
  replica = await parts.replica();
});
afterAll(() => parts[Symbol.asyncDispose]());
beforeEach(() => {
  pool = newId();
});

const { take, held, addBrowser, recordOf } = leaseCalls(() => ({ parts, replica, pool }));

/** A call, what it must answer, and what has happened before it. */
type Stale = { what: string; prepare: () => Promise<() => Promise<unknown>>; answers: unknown };

const changesNothing = (calls: Stale[]): void => {
  test.each(calls)("$what", async ({ prepare, answers }) => {
    const call = await prepare();
    const before = await poolData(parts.redis, pool);
    expect(await call()).toEqual(answers);
    expect(await poolData(parts.redis, pool)).toEqual(before);
  });
};

/** A session that has returned its browser, whose agent has not confirmed it yet. */
const released = async (session: string): Promise<LeaseRecord> => {
  const lease = await held(session);
  await store.release(pool, session, "releasing", "released");
  return lease;
};
/** A session that is over, and whose browser is idle again. */
const ended = async (session: string): Promise<LeaseRecord> => {
  const lease = await released(session);
  await store.offer(pool, lease);
  return lease;
};
/** The browser of the session is as good as new, and has lost its record's number. */
const registerAgain = async ({ browser: id, pod, address, config }: LeaseRecord): Promise<void> => {
  const examined = await parts.repairs.examine(pool, id);
  const record = { id, pod, address, config, seq: 0, state: "idle" as const };
  expect(await parts.repairs.repair(pool, examined, { record, former: "kept" })).toBe(true);
};
const clear = async (id: string): Promise<void> => {
  const examined = await parts.repairs.examine(pool, id);
  const { since: _, session: __, reason: ___, ...record } = examined.record ?? expect.fail("no record");
  expect(await parts.repairs.repair(pool, examined, { record: { ...record, state: "idle" }, former: "kept" })).toBe(
    true,
  );
};

describe("an end that comes late", () => {
  changesNothing([
    {
      what: "an offer of a browser that another session holds",
      async prepare() {
        await addBrowser();
        const old = await ended("a");
        await held("b");
        return () => store.offer(pool, old);
      },
      answers: false,
    },
    {
      what: "an offer that came twice",
      async prepare() {
        await addBrowser();
        const old = await ended("a");
        return () => store.offer(pool, old);
      },
      answers: false,
    },
    {
      what: "an offer of a browser whose lease runs",
      async prepare() {
        await addBrowser();
        const lease = await held("a");
        return () => store.offer(pool, lease);
      },
      answers: false,
    },
    {
      what: "an offer of a browser that its own session has made suspect",
      async prepare() {
        await addBrowser();
        const lease = await released("a");
        await store.suspect(pool, lease, "unreachable");
        return () => store.offer(pool, lease);
      },
      answers: false,
    },
    {
      what: "an offer of a browser that is gone",
      async prepare() {
        await addBrowser();
        const lease = await released("a");
        await store.close(pool, lease.browser, "browser_lost");
        return () => store.offer(pool, lease);
      },
      answers: false,
    },
    {
      what: "a suspicion of a browser whose lease runs",
      async prepare() {
        await addBrowser();
        const lease = await held("a");
        return () => store.suspect(pool, lease, "unreachable");
      },
      answers: false,
    },
    {
      what: "a suspicion of a browser that another session has returned",
      async prepare() {
        await addBrowser();
        const old = await ended("a");
        await released("b");
        return () => store.suspect(pool, old, "unreachable");
      },
      answers: false,
    },
    {
      what: "a suspicion of a browser that is gone",
      async prepare() {
        await addBrowser();
        const lease = await released("a");
        await store.close(pool, lease.browser, "browser_lost");
        return () => store.suspect(pool, lease, "unreachable");
      },
      answers: false,
    },
    {
      what: "a release that came twice",
      async prepare() {
        await addBrowser();
        await ended("a");
        await held("b");
        return () => store.release(pool, "a", "retired", "deleted");
      },
      answers: undefined,
    },
    {
      what: "a release of a caller that waits",
      async prepare() {
        await take("a");
        return () => store.release(pool, "a", "retired", "deleted");
      },
      answers: undefined,
    },
    {
      what: "an end of a browser that came twice",
      async prepare() {
        const browser = await addBrowser();
        await held("a");
        await store.close(pool, browser, "browser_crashed");
        return () => store.close(pool, browser, "browser_lost");
      },
      answers: undefined,
    },
  ]);
});

describe("a caller that is late", () => {
  changesNothing([
    {
      what: "a reject that came twice, when the session has another browser by now",
      async prepare() {
        await addBrowser();
        const first = await held("a");
        await addBrowser();
        await store.reject(pool, first, "stale_fence");
        return () => store.reject(pool, first, "stale_fence");
      },
      answers: { kind: "unknown" },
    },
    {
      what: "a reject that came twice, when the session has the same browser again by now",
      async prepare() {
        const browser = await addBrowser();
        const first = await held("a");
        await store.reject(pool, first, "agent TimeoutError");
        await clear(browser);
        expect(await store.lease(pool, "a")).toMatchObject({ browser, seq: 2 });
        return () => store.reject(pool, first, "agent TimeoutError");
      },
      answers: { kind: "unknown" },
    },
    {
      what: "a reject of a lease from before a loss, when the session has the same browser again by now",
      async prepare() {
        await addBrowser();
        const first = await held("a");
        await store.drop(pool);
        await parts.repairs.establish(pool, 2);
        await registerAgain(first);
        expect(await held("a")).toMatchObject({ browser: first.browser, seq: first.seq, epoch: 2 });
        return () => store.reject(pool, first, "stale_fence");
      },
      answers: { kind: "unknown" },
    },
    {
      what: "a reject of a session that is over",
      async prepare() {
        await addBrowser();
        const lease = await ended("a");
        await held("b");
        return () => store.reject(pool, lease, "stale_fence");
      },
      answers: { kind: "ended" },
    },
    {
      what: "a cancel that came twice",
      async prepare() {
        await take("a");
        await take("b");
        await store.cancel(pool, "a");
        return () => store.cancel(pool, "a");
      },
      answers: { kind: "unknown" },
    },
    {
      what: "a cancel of a session that is over",
      async prepare() {
        await addBrowser();
        await ended("a");
        return () => store.cancel(pool, "a");
      },
      answers: { kind: "unknown" },
    },
    {
      what: "a take of a session that is over, also in a pool that drains",
      async prepare() {
        await addBrowser();
        await ended("a");
        await store.drain(pool, { evenIfLeased: true });
        return () => take("a");
      },
      answers: { kind: "ended" },
    },
    {
      what: "a take of a session that is over, with the ticket that it had",
      async prepare() {
        await addBrowser();
        const { ticket } = await ended("a");
        return () => take("a", replica, ticket);
      },
      answers: { kind: "ended" },
    },
    {
      what: "a new request for a session whose request has changed meanwhile",
      async prepare() {
        await addBrowser();
        const lease = await held("a");
        const request = '{"name":"other"}';
        expect(await store.rewrite(pool, lease, request)).toEqual({ ...lease, request });
        return () => store.rewrite(pool, lease, '{"name":"mine"}');
      },
      answers: "changed",
    },
    {
      what: "a new request for a session that is over",
      async prepare() {
        await addBrowser();
        const lease = await ended("a");
        return () => store.rewrite(pool, lease, '{"name":"mine"}');
      },
      answers: "gone",
    },
  ]);

  test.each(["granted", "waiting"] as const)(
    "a take of a caller that is %s answers what it answered before",
    async (kind) => {
      if (kind === "granted") for (let browser = 0; browser < 2; browser++) await addBrowser();
      const first = await take("a");
      expect(first.kind).toBe(kind);
      await store.drain(pool, { evenIfLeased: true });
      if (kind === "waiting") {
        await store.undrain(pool);
        expect((await take("a")).kind).toBe("waiting");
      }
      const before = await poolData(parts.redis, pool);
      const again = await take("a");
      expect(again.kind).toBe(kind);
      expect(await poolData(parts.redis, pool)).toEqual(before);
    },
  );
});

describe("an inspection that is late", () => {
  /** What an inspection would write, which found the agent with a lease of this session. */
  const restoring = async (session: string, displaced?: string): Promise<() => Promise<boolean>> => {
    const browser = await addBrowser();
    const examined = await parts.repairs.examine(pool, browser);
    const { since: _, ...record } = examined.record ?? expect.fail("no record");
    const { pod, address, config } = record;
    const lease = { epoch: 1, seq: 7, created_at: 1, ticket: "0", channel: "none", request: "{}" };
    const repair: Repair = {
      record: { ...record, state: "leased", session, seq: 7 },
      former: "kept",
      restored: { session, browser, pod, address, config, ...lease },
      ...(displaced !== undefined && { displaced }),
    };
    return () => parts.repairs.repair(pool, examined, repair);
  };
  const retiring = async (browser: string): Promise<() => Promise<boolean>> => {
    const examined = await parts.repairs.examine(pool, browser);
    const { since: _, session: __, ...record } = examined.record ?? expect.fail("no record");
    return () =>
      parts.repairs.repair(pool, examined, {
        record: { ...record, state: "retired", reason: "gone" },
        former: "browser_lost",
      });
  };

  test("sees the lease that a browser has, and not that which its session has elsewhere by now", async () => {
    const first = await addBrowser();
    const { lease } = await parts.repairs.examine(pool, (await held("a")).browser);
    expect(lease).toMatchObject({ session: "a", browser: first });
    const moved = await restoring("a", first);
    expect(await moved()).toBe(true);
    const examined = await parts.repairs.examine(pool, first);
    expect(examined.record).toMatchObject({ session: "a" });
    expect(examined.lease).toBeUndefined();
  });

  changesNothing([
    {
      what: "a repair of a browser that was granted meanwhile",
      async prepare() {
        const repair = await retiring(await addBrowser());
        await held("a");
        return repair;
      },
      answers: false,
    },
    {
      what: "a repair of a browser that another session has got meanwhile",
      async prepare() {
        const browser = await addBrowser();
        const lease = await held("a");
        const repair = await retiring(browser);
        await store.release(pool, "a", "releasing", "released");
        await store.offer(pool, lease);
        await held("b");
        return repair;
      },
      answers: false,
    },
    {
      what: "a repair of a browser that is gone",
      async prepare() {
        const browser = await addBrowser();
        const repair = await retiring(browser);
        await store.close(pool, browser, "browser_lost");
        return repair;
      },
      answers: false,
    },
    {
      what: "a repair under the epoch before, of a record that is as it was",
      async prepare() {
        const repair = await retiring(await addBrowser());
        await parts.repairs.establish(pool, 2);
        return repair;
      },
      answers: false,
    },
    {
      what: "a repair that came twice",
      async prepare() {
        const repair = await retiring(await addBrowser());
        expect(await repair()).toBe(true);
        return repair;
      },
      answers: false,
    },
    {
      what: "a restored session that has ended meanwhile",
      async prepare() {
        await addBrowser();
        const { browser } = await ended("a");
        await store.retire(pool, { reason: "x", ids: [browser] });
        return restoring("a");
      },
      answers: false,
    },
    {
      what: "a restored session that has another browser by now",
      async prepare() {
        await addBrowser();
        await held("a");
        return restoring("a");
      },
      answers: false,
    },
    {
      what: "a restored session that has moved from one browser to another meanwhile",
      async prepare() {
        const first = await addBrowser();
        const lease = await held("a");
        await addBrowser();
        expect((await store.reject(pool, lease, "x")).kind).toBe("granted");
        return restoring("a", first);
      },
      answers: false,
    },
    {
      what: "a restored session that has lost its other browser meanwhile and waits again",
      async prepare() {
        await take("a");
        return restoring("a", "gone");
      },
      answers: false,
    },
    {
      what: "an epoch that has begun already, or is over",
      async prepare() {
        await parts.repairs.establish(pool, 3);
        await take("a");
        return async () => [await parts.repairs.establish(pool, 3), await parts.repairs.establish(pool, 2)];
      },
      answers: [false, false],
    },
    {
      what: "the end of a recovery of another epoch",
      async prepare() {
        await parts.repairs.establish(pool, 3);
        return async () => [await parts.repairs.recovered(pool, 2), await parts.repairs.recovered(pool, 4)];
      },
      answers: [false, false],
    },
    {
      what: "the end of a recovery that came twice",
      async prepare() {
        await parts.repairs.establish(pool, 2);
        await parts.repairs.recovered(pool, 2);
        return () => parts.repairs.recovered(pool, 2);
      },
      answers: false,
    },
  ]);
});

describe("an operator that is late", () => {
  changesNothing([
    {
      what: "a retirement of browsers that are in use, or gone, by now",
      async prepare() {
        const browser = await addBrowser();
        await held("a");
        return () => store.retire(pool, { reason: "Surplus", ids: [browser, "gone"], unpaced: true });
      },
      answers: [],
    },
    {
      what: "a discard that the API has carried out already, of browsers that came since",
      async prepare() {
        await store.retire(pool, { reason: "Discarded", token: "t" });
        await addBrowser();
        return () => store.retire(pool, { reason: "Discarded", token: "t", unpaced: true });
      },
      answers: [],
    },
    {
      what: "a leaving mark that the browser has already",
      async prepare() {
        const browser = await addBrowser();
        await held("a");
        await marks.leave(pool, [browser], "NodeLeaving");
        return () => marks.leave(pool, [browser], "NodeLeaving");
      },
      answers: 0,
    },
    {
      what: "a leaving mark for a browser that is retired, or gone",
      async prepare() {
        const browser = await addBrowser();
        await store.retire(pool, { reason: "Surplus" });
        return () => marks.leave(pool, [browser, "gone"], "NodeLeaving");
      },
      answers: 0,
    },
    {
      what: "the removal of a leaving mark of another reason",
      async prepare() {
        const browser = await addBrowser();
        await held("a");
        await marks.leave(pool, [browser], "Evicted");
        return () => marks.stay(pool, [browser, "gone"], "NodeLeaving");
      },
      answers: 0,
    },
    {
      what: "the removal of the leaving mark of a browser that is retired by now",
      async prepare() {
        const browser = await addBrowser();
        await held("a");
        await marks.leave(pool, [browser], "NodeLeaving");
        await store.release(pool, "a", "retired", "deleted");
        expect(await recordOf(browser)).toMatchObject({ state: "retired", leaving: "NodeLeaving" });
        return () => marks.stay(pool, [browser], "NodeLeaving");
      },
      answers: 0,
    },
    {
      what: "a drain of a pool that has a lease by now",
      async prepare() {
        await addBrowser();
        await held("a");
        await take("b");
        return () => store.drain(pool, { evenIfLeased: false });
      },
      answers: { leased: 1 },
    },
    {
      what: "unpaced starts that another replica has spent",
      async prepare() {
        await addBrowser();
        await store.retire(pool, { reason: "Discarded", unpaced: true });
        await store.spendUnpaced(pool, 1);
        return () => store.spendUnpaced(pool, 1);
      },
      answers: 0,
    },
    {
      what: "bounds that are told already, where nothing is beyond them",
      async prepare() {
        await addBrowser();
        await ended("a");
        const bounds = { count: 5, bytes: 1e6 };
        const trim = () => createEndedLeases(parts.redis).trim(pool, { most: bounds, now: bounds, steps: 10 });
        await trim();
        return async () => (await trim()).dropped;
      },
      answers: 0,
    },
  ]);
});
