/**
 * Calls of several replicas and an operator in any order, each with what it has read at any time before: what holds
 * after every one.
 */
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createEndedLeases } from "../../../src/core/leases/ended-leases.ts";
import type { LeaseStore } from "../../../src/core/leases/lease-store.ts";
import { createLeavingMarks } from "../../../src/core/leases/leaving-marks.ts";
import type { LeaseRecord } from "../../../src/core/leases/records.ts";
import type { Examined, Repair } from "../../../src/core/leases/repair-store.ts";
import { newId } from "../../../src/core/objects/new-id.ts";
import { type LeaseParts, type Replica, startLeaseParts } from "../../support/lease-parts.ts";
import { type PoolData, poolData, recordsOf } from "../../support/pool-data.ts";

let parts: LeaseParts;
let replicas: Replica[];
beforeAll(async () => {
  parts = await startLeaseParts();
  replicas = [await parts.replica(), await parts.replica()];
});
afterAll(() => parts[Symbol.asyncDispose]());

/** `n`, `m`: choose one of what the callers know, or a variant of the call. */
type Step = { call: keyof typeof calls; n: number; m: number };

/** All that any replica has read so far. */
type Known = {
  pool: string;
  store: LeaseStore;
  epoch: number;
  browsers: string[];
  leases: LeaseRecord[];
  examined: { of: string; was: Examined }[];
};

const sessionOf = (n: number): string => `s${n % 12}`;
const one = <T>(of: T[], n: number): T | undefined => of[n % Math.max(1, of.length)];
const withLease = async (known: Known, n: number, work: (lease: LeaseRecord) => Promise<unknown>): Promise<void> => {
  const lease = one(known.leases, n);
  if (lease) await work(lease);
};
const note = (known: Known, outcome: { kind: string; lease?: LeaseRecord }): void => {
  if (outcome.lease) known.leases.push(outcome.lease);
};

/** What an inspection may write after this examination (diagnose.ts). */
const repairOf = ({ of: id, was }: Known["examined"][number], n: number, m: number): Repair => {
  const {
    since: _,
    session,
    ...known
  } = was.record ?? { id, pod: "p", address: "127.0.0.9:1", config: "c", seq: 0, since: 0 };
  const former = was.lease === undefined ? "kept" : m % 2 === 0 ? "dropped" : "released";
  const kinds: Repair[] = [
    { record: { ...known, state: "idle" }, former },
    { record: { ...known, state: "retired", reason: "gone" }, former },
  ];
  if (was.record) kinds.push({ record: { ...was.record, state: "suspect", reason: "unreachable" }, former });
  if (session !== sessionOf(m)) kinds.push(restoreOf(id, { ...known, seq: known.seq + 1 }, sessionOf(m), former));
  return kinds[n % kinds.length] as Repair;
};
const restoreOf = (
  browser: string,
  { pod, address, config, seq, ...known }: Omit<Repair["record"], "state">,
  session: string,
  former: Repair["former"],
): Repair => ({
  record: { ...known, id: browser, pod, address, config, seq, state: "leased", session },
  former,
  restored: {
    session,
    browser,
    pod,
    address,
    config,
    epoch: 1,
    seq,
    created_at: 1,
    ticket: "0",
    channel: "none",
    request: "restored",
  },
});

const calls = {
  async take(known: Known, n: number, m: number) {
    const grants = one(replicas, m) ?? expect.fail("no replica");
    await grants.follow(known.pool);
    const ticket = m % 3 === 0 ? one(known.leases, n)?.ticket : undefined;
    const taking = { session: sessionOf(n), channel: grants.channel(known.pool), request: `{"n":${m}}` };
    note(known, await known.store.take(known.pool, { ...taking, ...(ticket !== undefined && { ticket }) }));
  },
  cancel: async (known: Known, n: number) => note(known, await known.store.cancel(known.pool, sessionOf(n))),
  reject: (known: Known, n: number) =>
    withLease(known, n, async (lease) => note(known, await known.store.reject(known.pool, lease, "stale_fence"))),
  async release({ store, pool }: Known, n: number, m: number) {
    await store.release(pool, sessionOf(n), m % 3 === 0 ? "retired" : "releasing", "released");
  },
  offer: (known: Known, n: number) => withLease(known, n, (lease) => known.store.offer(known.pool, lease)),
  suspect: (known: Known, n: number) => withLease(known, n, (lease) => known.store.suspect(known.pool, lease, "x")),
  rewrite: (known: Known, n: number, m: number) =>
    withLease(known, n, (lease) => known.store.rewrite(known.pool, lease, `{"m":${m}}`)),
  async addBrowser(known: Known) {
    if (known.browsers.length < 6) known.browsers.push(await parts.addBrowser(known.pool));
  },
  async close({ store, pool, browsers }: Known, n: number) {
    if (n % 4 === 0) await store.close(pool, one(browsers, n) ?? "none", "browser_lost");
  },
  async examine(known: Known, n: number) {
    const of = one(known.browsers, n);
    if (of !== undefined) known.examined.push({ of, was: await parts.repairs.examine(known.pool, of) });
  },
  async repair({ pool, examined }: Known, n: number, m: number) {
    // Mostly the latest examination, since an older one seldom fits.
    const chosen = m % 3 === 0 ? one(examined, n) : examined.at(-1);
    if (chosen) await parts.repairs.repair(pool, chosen.was, repairOf(chosen, n, m));
  },
  async retire({ store, pool, browsers }: Known, n: number, m: number) {
    await store.retire(pool, {
      reason: "x",
      unpaced: m % 2 === 0,
      count: m % 3,
      token: n % 2 === 0 ? "" : `t${m % 2}`,
      ...(n % 3 > 0 && { ids: browsers.slice(n % 3) }),
    });
  },
  async spend({ store, pool }: Known, n: number) {
    await store.spendUnpaced(pool, n % 4);
  },
  async leave({ pool, browsers }: Known, n: number, m: number) {
    await createLeavingMarks(parts.redis)[m % 2 === 0 ? "leave" : "stay"](pool, browsers.slice(n % 6), "NodeLeaving");
  },
  async drain({ store, pool }: Known, _: number, m: number) {
    await store.drain(pool, { evenIfLeased: m % 2 === 0 });
    if (m % 3 > 0) await store.undrain(pool);
  },
  async establish(known: Known, n: number) {
    const epoch = known.epoch + (n % 3) - 1;
    if (await parts.repairs.establish(known.pool, epoch)) known.epoch = epoch;
    await parts.repairs.recovered(known.pool, known.epoch - (n % 2));
  },
  async lose(known: Known, n: number) {
    if (n % 5 > 0) return;
    await known.store.drop(known.pool);
    known.epoch += 1;
    await parts.repairs.establish(known.pool, known.epoch);
  },
  async trim({ pool }: Known, n: number) {
    const bounds = { count: n, bytes: n * 1000 };
    await createEndedLeases(parts.redis).trim(pool, { most: bounds, now: bounds, steps: n });
  },
};

const keys = (of: Record<string, unknown>): string[] => Object.keys(of).toSorted();
const endedEntryBytes = 250;

const expectOneHolderEach = (data: PoolData): void => {
  const { browsers, leases } = recordsOf(data);
  for (const [session, lease] of leases) {
    expect(lease.session).toBe(session);
    const record = browsers.get(lease.browser);
    expect(record).toMatchObject({ state: "leased", session });
    expect(record?.seq).toBeGreaterThanOrEqual(lease.seq);
  }
  const held = [...leases.values()].map(({ browser }) => browser);
  expect(new Set(held).size).toBe(held.length);
};

/** Holds after every call, whatever was called before it. */
const expectSound = (data: PoolData): void => {
  expectOneHolderEach(data);
  const { browsers } = recordsOf(data);
  const idle = [...browsers.values()].filter(({ state }) => state === "idle");
  expect(keys(data.idle)).toEqual(idle.map(({ id }) => id).toSorted());
  for (const { session, leaving } of idle) expect([session, leaving]).toEqual([undefined, undefined]);
  expect(keys(data.requests)).toEqual(keys(data.waiters));
  expect(keys(data.ended_at)).toEqual(keys(data.ended));
  const sessions = [data.waiters, data.leases, data.ended].flatMap(keys);
  expect(new Set(sessions).size).toBe(sessions.length);
  if (data.pool.draining !== undefined) expect(keys(data.waiters)).toEqual([]);
  expect(Math.min(keys(data.waiters).length, idle.length)).toBe(0);
  const bytes = Object.values(data.ended).reduce((sum, text) => sum + text.length + endedEntryBytes, 0);
  expect(Number(data.pool.ended_bytes ?? 0)).toBe(bytes);
  expect(Number(data.pool.unpaced ?? 0)).toBeGreaterThanOrEqual(0);
};

/** Each grant of a browser has a fence above all those before it: a later epoch, or the same one and a later number. */
const expectRisingFences = (data: PoolData, highest: Map<string, { epoch: number; seq: number }>): void => {
  for (const { browser, epoch, seq, request } of recordsOf(data).leases.values()) {
    const before = highest.get(browser);
    if (before?.epoch === epoch && before.seq === seq) continue;
    if (request !== "restored" && before)
      expect(epoch > before.epoch || (epoch === before.epoch && seq > before.seq)).toBe(true);
    if (!before || epoch >= before.epoch) highest.set(browser, { epoch, seq });
  }
};

const anyStep: fc.Arbitrary<Step> = fc.record({
  call: fc.constantFrom(
    ...(Object.keys(calls) as Step["call"][]),
    ...(["take", "take", "release", "offer", "reject", "addBrowser", "examine", "repair"] as const),
  ),
  n: fc.nat({ max: 30 }),
  m: fc.nat({ max: 30 }),
});

// LEASE-35, LEASE-36, LEASE-40
test("whatever is called in whatever order, a browser has one holder, each grant a higher fence, and nothing is left behind", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 10, maxLength: 50 }), async (steps) => {
      const pool = newId();
      const known: Known = { pool, store: parts.store, epoch: 1, browsers: [], leases: [], examined: [] };
      await parts.repairs.establish(pool, 1);
      const highest = new Map<string, { epoch: number; seq: number }>();
      for (const { call, n, m } of steps) {
        await calls[call](known, n, m);
        const data = await poolData(parts.redis, pool);
        expectSound(data);
        expectRisingFences(data, highest);
      }
      await parts.store.drop(pool);
    }),
    { numRuns: 40 },
  );
});
