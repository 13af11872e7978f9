/**
 * The operator's loops over what has ended, with each of their calls failing in turn: what goes, and that nothing else
 * does.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createEndedLeases } from "../../src/core/leases/ended-leases.ts";
import { createNamesInUse } from "../../src/core/leases/names-in-use.ts";
import { poolKey } from "../../src/core/leases/pool-keys.ts";
import type { BrowserPool } from "../../src/core/model/pools/browser-pool.ts";
import { newId } from "../../src/core/objects/new-id.ts";
import { createNameSweep } from "../../src/core/pools/ended/free-ended-names.ts";
import { type KeepEndedDeps, keepEndedBounds } from "../../src/core/pools/ended/keep-ended-bounds.ts";
import { createSessionNames } from "../../src/core/reservations/session-names.ts";
import { projectLabel } from "../../src/platform/kinds/identity.ts";
import { sessionNamesKey } from "../../src/platform/redis/keys.ts";
import { eventually } from "../support/eventually.ts";
import { type LeaseParts, silent, startLeaseParts } from "../support/lease-parts.ts";
import { serviceFailures, tryEveryFault } from "./injector.ts";

let parts: LeaseParts;
beforeAll(async () => {
  parts = await startLeaseParts();
});
afterAll(() => parts?.[Symbol.asyncDispose]());

const { store: redisFails, kube: kubeFails } = serviceFailures;

/** Bytes of an ended lease here. */
const bytesEach = 300;

/** A pool with so many ended leases: `s0` is the youngest, each is a second older than the one before. */
const poolWith = async (namespace: string, count: number): Promise<BrowserPool> => {
  const uid = newId();
  await parts.addBrowser(uid);
  const nowMs = Date.now();
  const pipeline = parts.redis.pipeline();
  for (let n = 0; n < count; n++)
    pipeline
      .hset(poolKey(uid, "ended"), `s${n}`, "x".repeat(50))
      .zadd(poolKey(uid, "ended_at"), nowMs - n * 1000, `s${n}`);
  await pipeline.hincrby(poolKey(uid, "pool"), "ended_bytes", count * bytesEach).exec();
  return { metadata: { name: uid, namespace, uid }, status: { leaseEpoch: 1 } } as BrowserPool;
};

/** The sessions of a pool's ended leases, the youngest first. */
const endedIn = ({ metadata }: BrowserPool): Promise<string[]> =>
  parts.redis.zrevrange(poolKey(metadata.uid ?? "", "ended_at"), 0, -1);
const youngest = (count: number): string[] => Array.from({ length: count }, (_, n) => `s${n}`);

// LIMIT-25
test("ended leases beyond the bounds go, and only those, whatever fails meanwhile", async () => {
  // The first project keeps 160 of its 200, which its larger pool gives alone.
  const bounds = { pool: { count: 150, bytes: 1e9 }, all: { count: 200, bytes: 1e9 } };
  const expected = [youngest(110), youngest(50), youngest(40)];
  const calls = await tryEveryFault({
    parts: { ended: createEndedLeases(parts.redis), memory: { use: async () => [] } },
    failures: { ended: redisFails, memory: redisFails },
    kinds: ["refused", "lost", "away"],
    prepare: async () => [await poolWith("a", 300), await poolWith("a", 50), await poolWith("b", 40)],
    async work(pools, { ended, memory }, missedTwice) {
      const stop = new AbortController();
      let looked = 0;
      const noted = { dropped: () => undefined, memory: () => undefined, left: () => void looked++ };
      const deps: KeepEndedDeps = {
        source: { list: () => pools },
        endedLeases: ended,
        redisMemory: memory.use,
        endedLimits: bounds,
        metrics: { ended: noted },
        log: silent,
        check: () => stop.signal.throwIfAborted(),
      };
      const running = keepEndedBounds(deps, stop.signal);
      await eventually("a whole look, or two that failed", () => looked > 0 || missedTwice.aborted);
      stop.abort();
      await running;
    },
    async check(pools, _, { kind }) {
      const left = await Promise.all(pools.map(endedIn));
      if (kind !== "away") expect(left).toEqual(expected);
      for (const [at, sessions] of left.entries()) {
        expect(sessions).toEqual(youngest(sessions.length));
        expect(sessions.length).toBeGreaterThanOrEqual(expected[at]?.length ?? 0);
      }
    },
  });
  expect(calls.filter((call) => call === "ended.trim")).toHaveLength(4);
}, 120_000);

// LEASE-56
test("the name of an ended session goes, and a live one's stays, whatever fails in a sweep", async () => {
  const names = createSessionNames(parts.redis, parts.store);
  const inUse = { of: createNamesInUse(parts.redis) };
  /** A project with a live session's name and an ended one's. */
  const prepare = async () => {
    const [project, poolUid] = [newId(), newId()];
    for (const name of ["live", "ended"]) {
      await parts.addBrowser(poolUid);
      const session = newId();
      expect(await names.reserve(project, name, { poolUid, session })).toBe(true);
      const request = JSON.stringify({ name });
      expect(await parts.store.take(poolUid, { session, channel: "none", request })).toMatchObject({ kind: "granted" });
      if (name === "ended") await parts.store.release(poolUid, session, "retired", "timeout");
    }
    const now: { parts: Outside } = { parts: { kube: projects(project), names, inUse } };
    const sweep = createNameSweep({
      kube: { list: () => now.parts.kube.list() as never },
      names: { page: (...asked) => now.parts.names.page(...asked), free: (...asked) => now.parts.names.free(...asked) },
      namesInUse: (...asked) => now.parts.inUse.of(...asked),
      acceptedSessions: { uids: () => new Set([poolUid]), synced: async () => undefined },
      log: silent,
      check: () => undefined,
    });
    return { project, now, well: now.parts, sweep: () => sweep(new AbortController().signal) };
  };
  type Outside = { kube: ReturnType<typeof projects>; names: typeof names; inUse: typeof inUse };
  const projects = (project: string) => ({
    list: async () => ({ items: [{ metadata: { name: project, labels: { [projectLabel]: project } } }] }),
  });
  const reserved = async (project: string): Promise<string[]> =>
    (await parts.redis.hkeys(sessionNamesKey(project))).toSorted();

  const calls = await tryEveryFault<Awaited<ReturnType<typeof prepare>>, void, Outside>({
    parts: { kube: projects(""), names, inUse },
    failures: { kube: kubeFails, names: redisFails, inUse: redisFails },
    kinds: ["refused", "lost", "away"],
    prepare,
    async work({ project, now, sweep }, { kube, ...rest }) {
      const own = projects(project);
      now.parts = { ...rest, kube: { list: async () => (await kube.list()) && own.list() } };
      await sweep();
      await sweep();
    },
    async check({ project, now, well, sweep }, ended) {
      now.parts = well;
      expect(await reserved(project)).toContain("live");
      if ("error" in ended) for (const _ of ["notes", "frees"]) await sweep();
      expect(await reserved(project)).toEqual(["live"]);
    },
  });
  expect(calls).toEqual(expect.arrayContaining(["kube.list", "names.page", "names.free", "inUse.of"]));
}, 60_000);
