/**
 * All that a project has, as events: its pools, then its active sessions, the latest begin first. It is made batch by
 * batch, when the first reader comes to one; readers that begin at about the same time share a snapshot, so a replica
 * that starts anew makes each batch once for all of their windows. Of the sessions only ids and times are held, and the
 * batches that were made last.
 */
import { LRUCache } from "lru-cache";
import { identityOf } from "../../core/api/announced.ts";
import type { LeasePages } from "../../core/leases/lease-pages.ts";
import type { LeaseRecord } from "../../core/leases/records.ts";
import type { Browser } from "../../core/model/browsers/browser.ts";
import type { BrowserPool } from "../../core/model/pools/browser-pool.ts";
import type { WatchedObjects } from "../../core/objects/watched-objects.ts";
import { describePools } from "../../core/pools/use-cases/fetch-pool.ts";
import { liveOwnersOf, poolsOf } from "../../core/pools/use-cases/lease-owners.ts";
import type { Project } from "../../core/projects/projects.ts";
import { awaitWith } from "../../platform/base/retry.ts";
import { byAge } from "../../platform/kinds/identity.ts";
import { type DescribeDeps, sessionIdentity, sessionObject } from "./describe.ts";
import { eventJson } from "./event.ts";
import type { Turns } from "./turns.ts";

/** Events as JSON. */
type Batch = readonly string[];

/** The batches of all snapshots that were made a moment ago, by snapshot and place. */
type Batches = LRUCache<string, Batch>;

/** Most bytes of them, and how long one is kept, ms: for readers that are slower than the fastest. */
const batchBounds = { maxSize: 32 * 2 ** 20, ttl: 10_000, ttlAutopurge: true };

/** None yet. */
export const createBatches = (): Batches =>
  new LRUCache({
    ...batchBounds,
    // At least one: the cache takes no other size.
    sizeCalculation: (batch) => batch.reduce((bytes, json) => bytes + Buffer.byteLength(json), 1),
  });

export type SnapshotDeps = DescribeDeps & {
  browsers: WatchedObjects<Browser>;
  leasePages: LeasePages;
  batches: Batches;
  turns: Turns;
};

/** Pools that are described at once; each may have a megabyte of network rules. */
const poolsAtOnce = 10;

/** Leases that are read at once, each of some kilobytes. */
const leasesAtOnce = 100;

/** Owners whose leases are looked for at once. */
const ownersAtOnce = 20;

const chunksOf = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, index) => all.slice(index * size, (index + 1) * size));

const livePoolsOf = (project: Project, deps: SnapshotDeps): BrowserPool[] =>
  poolsOf(project, deps)
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .sort(byAge);

const poolBatch = async (pools: BrowserPool[], deps: SnapshotDeps): Promise<Batch> => {
  const objects = await describePools(pools, deps);
  const batch: string[] = [];
  for (const [index, pool] of pools.entries()) {
    const object = objects[index];
    if (object) batch.push(eventJson({ event: "current", kind: "pool", ...identityOf(pool), object }));
    await deps.turns();
  }
  return batch;
};

type Place = { poolUid: string; session: string; beganMs: number };

/** Where the sessions of a pool are. */
const placesIn = async (
  poolUid: string,
  { leasePages, turns }: Pick<SnapshotDeps, "leasePages" | "turns">,
): Promise<Place[]> => {
  const places = new Map<string, Place>();
  let cursor = "0";
  do {
    const page = await leasePages.page(poolUid, cursor, leasesAtOnce);
    for (const { session, created_at: beganMs } of page.leases) places.set(session, { poolUid, session, beganMs });
    cursor = page.cursor;
    await turns();
  } while (cursor !== "0");
  return [...places.values()];
};

/** Where the active sessions of a project are, in the order of lists. */
const placesOf = async (project: Project, deps: SnapshotDeps): Promise<Place[]> => {
  const places: Place[] = [];
  for (const owners of chunksOf(liveOwnersOf(project, deps), ownersAtOnce)) {
    const found = await Promise.all(owners.map(({ metadata }) => placesIn(metadata.uid, deps)));
    for (const some of found) places.push(...some);
  }
  return places.sort((a, b) => b.beganMs - a.beganMs || (a.session < b.session ? -1 : 1));
};

/** The leases at these places, without those that have ended. */
const leasesAt = async (places: Place[], { leasePages }: SnapshotDeps): Promise<LeaseRecord[]> => {
  const byPool = Map.groupBy(places, ({ poolUid }) => poolUid);
  const found = await Promise.all(
    [...byPool].map(([poolUid, own]) =>
      leasePages.read(
        poolUid,
        own.map(({ session }) => session),
      ),
    ),
  );
  const leases = new Map(found.flat().map((lease) => [lease.session, lease]));
  return places.flatMap(({ session }) => leases.get(session) ?? []);
};

const sessionBatch = async (places: Place[], deps: SnapshotDeps): Promise<Batch> => {
  const batch: string[] = [];
  for (const lease of await leasesAt(places, deps)) {
    batch.push(eventJson({ event: "current", ...sessionIdentity(lease), object: await sessionObject(lease, deps) }));
    await deps.turns();
  }
  return batch;
};

export type Snapshot = {
  /** The number of the project's latest event before anything was read: what changes meanwhile comes after it. */
  from: number;
  /** Throws `unavailable`, or the reason of `signal`. */
  read(signal: AbortSignal): AsyncGenerator<Batch>;
};

/** Reads nothing before the first reader. `id`: no other snapshot has it. */
export const createSnapshot = (
  { id, project, from }: { id: string; project: Project; from: number },
  deps: SnapshotDeps,
): Snapshot => {
  const underWay = new Map<string, Promise<Batch>>();
  let places: Promise<Place[][]> | undefined;
  const begin = async (key: string, make: () => Promise<Batch>): Promise<Batch> => {
    try {
      const batch = await make();
      deps.batches.set(key, batch);
      return batch;
    } finally {
      underWay.delete(key);
    }
  };
  /** The place of all sessions; after a fault the next reader looks again. */
  const sessions = (): Promise<Place[][]> => {
    places ??= placesOf(project, deps)
      .then((all) => chunksOf(all, leasesAtOnce))
      .catch((error: unknown) => {
        places = undefined;
        throw error;
      });
    return places;
  };
  const pools = chunksOf(livePoolsOf(project, deps), poolsAtOnce);
  const batchOf = async (name: string, make: () => Promise<Batch>, signal: AbortSignal): Promise<Batch> => {
    signal.throwIfAborted();
    const key = `${id} ${name}`;
    const made = deps.batches.get(key);
    if (made) return made;
    const making = underWay.get(key) ?? begin(key, make);
    underWay.set(key, making);
    return awaitWith(making, signal);
  };
  return {
    from,
    async *read(signal) {
      for (const [index, some] of pools.entries())
        yield await batchOf(`pools ${index}`, () => poolBatch(some, deps), signal);
      for (const [index, some] of (await awaitWith(sessions(), signal)).entries())
        yield await batchOf(`sessions ${index}`, () => sessionBatch(some, deps), signal);
    },
  };
};
