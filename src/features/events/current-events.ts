/**
 * All that a project has, as events: its pools, then its active sessions, the latest begin first. Of the sessions only
 * ids and times are held, and one batch of leases, which is read when the batch before was taken.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { identityOf } from "../../core/api/announced.ts";
import type { LeasePages } from "../../core/leases/lease-pages.ts";
import type { LeaseRecord } from "../../core/leases/records.ts";
import type { Browser } from "../../core/model/browsers/browser.ts";
import type { BrowserPool } from "../../core/model/pools/browser-pool.ts";
import type { WatchedObjects } from "../../core/objects/watched-objects.ts";
import { describePools } from "../../core/pools/use-cases/fetch-pool.ts";
import { liveOwnersOf, poolsOf } from "../../core/pools/use-cases/lease-owners.ts";
import type { Project } from "../../core/projects/projects.ts";
import { byAge } from "../../platform/kinds/identity.ts";
import { eventJson } from "./event.ts";
import { type DescribeDeps, sessionIdentity, sessionObject } from "./feed.ts";

export type CurrentDeps = DescribeDeps & { browsers: WatchedObjects<Browser>; leasePages: LeasePages };

/** Pools that are described at once; each may have a megabyte of network rules. */
const poolsAtOnce = 10;

/** Leases that are read at once, each of some kilobytes. */
const leasesAtOnce = 100;

/** Owners whose leases are looked for at once. */
const ownersAtOnce = 20;

/** Longest work before others have their turn, ms. */
const turnMs = 10;

/** Resolves at once, or when others had their turn, if the last time is long ago. */
const createTurns = (): (() => Promise<void>) => {
  let sinceMs = performance.now();
  return async () => {
    if (performance.now() - sinceMs < turnMs) return;
    await nextTurn();
    sinceMs = performance.now();
  };
};

const chunksOf = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, index) => all.slice(index * size, (index + 1) * size));

type Turns = ReturnType<typeof createTurns>;

const currentPools = async function* (project: Project, deps: CurrentDeps, turns: Turns): AsyncGenerator<string> {
  const pools: BrowserPool[] = poolsOf(project, deps)
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .sort(byAge);
  for (const some of chunksOf(pools, poolsAtOnce)) {
    const objects = await describePools(some, deps);
    for (const [index, pool] of some.entries()) {
      const object = objects[index];
      if (object) yield eventJson({ event: "current", kind: "pool", ...identityOf(pool), object });
      await turns();
    }
  }
};

type Place = { poolUid: string; session: string; beganMs: number };

/** Where the sessions of a pool are. */
const placesIn = async (
  poolUid: string,
  { leasePages }: { leasePages: LeasePages },
  turns: Turns,
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
const placesOf = async (project: Project, deps: CurrentDeps, turns: Turns): Promise<Place[]> => {
  const places: Place[] = [];
  for (const owners of chunksOf(liveOwnersOf(project, deps), ownersAtOnce)) {
    const found = await Promise.all(owners.map(({ metadata }) => placesIn(metadata.uid, deps, turns)));
    for (const some of found) places.push(...some);
  }
  return places.sort((a, b) => b.beganMs - a.beganMs || (a.session < b.session ? -1 : 1));
};

/** The leases at these places, without those that have ended. */
const leasesAt = async (places: Place[], { leasePages }: { leasePages: LeasePages }): Promise<LeaseRecord[]> => {
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

const currentSessions = async function* (project: Project, deps: CurrentDeps, turns: Turns): AsyncGenerator<string> {
  for (const places of chunksOf(await placesOf(project, deps, turns), leasesAtOnce))
    for (const lease of await leasesAt(places, deps)) {
      yield eventJson({ event: "current", ...sessionIdentity(lease), object: await sessionObject(lease, deps) });
      await turns();
    }
};

/** As JSON. Throws `unavailable`, or the reason of `signal`. */
export const currentEvents = async function* (
  project: Project,
  deps: CurrentDeps,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const turns = createTurns();
  for await (const json of currentPools(project, deps, turns)) {
    signal.throwIfAborted();
    yield json;
  }
  for await (const json of currentSessions(project, deps, turns)) {
    signal.throwIfAborted();
    yield json;
  }
};
