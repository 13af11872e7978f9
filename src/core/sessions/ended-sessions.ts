/**
 * The ended sessions of a project, the latest end first, read page by page. Their end times are in one sorted set for
 * each pool; the merge takes from each only as much as the reader wants. A session of an on-demand browser has its end
 * time in the browser's status, which this process has in memory anyway.
 */

import type { EndedEntry, EndedLeases } from "../leases/ended-leases.ts";
import type { EndedLease } from "../leases/records.ts";
import { type Browser, isOver } from "../model/browsers/browser.ts";
import type { BrowserPool } from "../model/pools/browser-pool.ts";
import type { WatchedObjects } from "../objects/watched-objects.ts";
import { browsersOf, leasedPoolsOf, poolsOfSession } from "../pools/use-cases/lease-owners.ts";
import type { Project } from "../projects/projects.ts";

type Place = EndedEntry & { poolUid: string };

/** A part of an order: so many places after the first `skip` ones. */
type Part = { skip: number; count: number };

/** Ended sessions in the order of `byEnd`. `before`: those that ended before this time. */
type Source = {
  countSince(sinceMs: number): number | Promise<number>;
  before(beforeMs: number, part: Part): Place[] | Promise<Place[]>;
};

type EndedDeps = { browsers: WatchedObjects<Browser>; endedLeases: EndedLeases; pools: WatchedObjects<BrowserPool> };

/** Later than every end, ms. */
const endOfTimeMs = 8.64e15;

/**
 * By their end, the latest first. Those of one pool and one millisecond in the order in which Redis has them: the last
 * id first.
 */
const byEnd = (a: Place, b: Place): number => {
  if (a.endedMs !== b.endedMs) return b.endedMs - a.endedMs;
  return a.poolUid === b.poolUid ? (a.session > b.session ? -1 : 1) : a.poolUid < b.poolUid ? -1 : 1;
};

const poolSource = (poolUid: string, { endedLeases }: EndedDeps): Source => ({
  countSince: (sinceMs) => endedLeases.countSince(poolUid, sinceMs),
  before: async (beforeMs, part) =>
    (await endedLeases.entries(poolUid, beforeMs, part)).map((entry) => ({ ...entry, poolUid })),
});

const listSource = (places: Place[]): Source => {
  const sorted = places.toSorted(byEnd);
  return {
    countSince: (sinceMs) => sorted.filter(({ endedMs }) => endedMs >= sinceMs).length,
    before: (beforeMs, { skip, count }) => sorted.filter(({ endedMs }) => endedMs < beforeMs).slice(skip, skip + count),
  };
};

/**
 * The place of an on-demand browser's ended session. Its status may be a moment behind, so Redis is asked until it says
 * so.
 */
const placesOf = async (browser: Browser, { endedLeases }: EndedDeps): Promise<Place[]> => {
  const { metadata, status } = browser;
  const poolUid = metadata.uid;
  if (!isOver(browser))
    return (await endedLeases.entries(poolUid, endOfTimeMs, { skip: 0, count: 1 })).map((entry) => ({
      ...entry,
      poolUid,
    }));
  if (status?.phase !== "Ended") return [];
  return [{ poolUid, session: metadata.name, endedMs: Date.parse(status.endTime ?? metadata.creationTimestamp ?? "") }];
};

const sourcesOf = async (project: Project, deps: EndedDeps): Promise<Source[]> => {
  const onDemand = await Promise.all(browsersOf(project, deps).map((browser) => placesOf(browser, deps)));
  return [
    ...leasedPoolsOf(project, deps).map(({ metadata }) => poolSource(metadata.uid, deps)),
    listSource(onDemand.flat()),
  ];
};

/** Times between which one round of the search looks, so that a few rounds find one millisecond of a day. */
const looksAtOnce = 16;

/** Ends before this, ms, come from a clock that was set: a lease is kept for a day. */
const twoDaysMs = 2 * 24 * 60 * 60 * 1000;

/** The first time, ms, since which at most `offset` sessions of all sources have ended; and how many these are. */
const startOf = async (sources: Source[], offset: number): Promise<{ beforeMs: number; skipped: number }> => {
  if (offset === 0) return { beforeMs: endOfTimeMs, skipped: 0 };
  const countSince = async (sinceMs: number): Promise<number> =>
    (await Promise.all(sources.map((source) => source.countSince(sinceMs)))).reduce((sum, count) => sum + count, 0);
  const newest = (await Promise.all(sources.map((source) => source.before(endOfTimeMs, { skip: 0, count: 1 })))).flat();
  // More than `offset` have ended since `low`, or it is the first of all times; not more since `high`.
  let high = Math.max(0, ...newest.map(({ endedMs }) => endedMs)) + 1;
  let skipped = 0;
  let low = (await countSince(high - twoDaysMs)) > offset ? high - twoDaysMs : 0;
  while (high - low > 1) {
    const step = Math.max(1, (high - low) / looksAtOnce);
    const times = Array.from({ length: looksAtOnce }, (_, index) => Math.ceil(low + step * (index + 1)));
    const inner = times.filter((ms) => ms < high);
    const counts = await Promise.all(inner.map(countSince));
    const found = counts.findIndex((count) => count <= offset);
    if (found >= 0) [high, skipped] = [inner[found] ?? high, counts[found] ?? skipped];
    low = inner[found >= 0 ? found - 1 : inner.length - 1] ?? low;
  }
  return { beforeMs: high, skipped };
};

/** What a source gives, one by one. It is asked for `chunk` at a time. */
async function* walk(source: Source, fromMs: number, chunk: number): AsyncGenerator<Place> {
  let beforeMs = fromMs;
  for (let skip = 0; ; skip += chunk) {
    const places = await source.before(beforeMs, { skip, count: chunk });
    yield* places;
    if (places.length < chunk) return;
    // Sessions that end meanwhile would move the others.
    if (skip === 0) beforeMs = Math.min(beforeMs, (places[0]?.endedMs ?? 0) + 1);
  }
}

/** The places of all sources from `fromMs` back, in order. */
async function* merge(sources: Source[], fromMs: number, chunk: number): AsyncGenerator<Place> {
  const walks = sources.map((source) => walk(source, fromMs, chunk));
  const heads = await Promise.all(walks.map(async (places) => ({ places, head: await places.next() })));
  for (;;) {
    const open = heads.flatMap((one) => (one.head.done ? [] : [{ one, place: one.head.value }]));
    const first = open.toSorted((a, b) => byEnd(a.place, b.place))[0];
    if (!first) return;
    yield first.place;
    first.one.head = await first.one.places.next();
  }
}

/** What is kept of the sessions at these places. One that was dropped meanwhile is left out. */
const read = async (places: Place[], { endedLeases }: EndedDeps): Promise<EndedLease[]> => {
  const byPool = Map.groupBy(places, ({ poolUid }) => poolUid);
  const found = await Promise.all(
    [...byPool].map(([poolUid, own]) =>
      endedLeases.read(
        poolUid,
        own.map(({ session }) => session),
      ),
    ),
  );
  const leases = new Map(found.flat().flatMap((lease) => (lease ? [[lease.session, lease]] : [])));
  return places.flatMap(({ session }) => leases.get(session) ?? []);
};

type EndedPage = { leases: EndedLease[]; hasMore: boolean };

/** Page of a project's ended sessions. It reads the page, and as many end times of each pool at most. */
export const endedPage = async (
  { offset, limit }: { offset: number; limit: number },
  project: Project,
  deps: EndedDeps,
): Promise<EndedPage> => {
  const sources = await sourcesOf(project, deps);
  const { beforeMs, skipped } = await startOf(sources, offset);
  const places: Place[] = [];
  let before = offset - skipped;
  for await (const place of merge(sources, beforeMs, before + limit + 2)) {
    if (before-- > 0) continue;
    places.push(place);
    if (places.length > limit) break;
  }
  return { leases: await read(places.slice(0, limit), deps), hasMore: places.length > limit };
};

/**
 * How many of the latest ended sessions a search looks at, and how many at a time: each batch is some milliseconds of
 * work.
 */
const searchedSessions = 5000;
const batch = 500;

/** The matching ones among the latest ended sessions. `isCut`: there are further ones, which were not looked at. */
export const searchEnded = async (
  matches: (lease: EndedLease) => boolean,
  { atMost }: { atMost: number },
  project: Project,
  deps: EndedDeps,
): Promise<{ leases: EndedLease[]; isCut: boolean }> => {
  const leases: EndedLease[] = [];
  let places: Place[] = [];
  let looked = 0;
  const look = async (): Promise<void> => {
    leases.push(...(await read(places, deps)).filter(matches));
    places = [];
  };
  for await (const place of merge(await sourcesOf(project, deps), endOfTimeMs, batch)) {
    if (looked === searchedSessions) return { leases, isCut: true };
    looked++;
    if (places.push(place) === batch) await look();
    if (leases.length >= atMost) return { leases, isCut: false };
  }
  await look();
  return { leases, isCut: false };
};

/** The ended session of exactly this id, wherever in the project it was. */
export const endedOf = async (session: string, project: Project, deps: EndedDeps): Promise<EndedLease[]> => {
  const owners = [
    ...poolsOfSession(session, project, deps),
    ...browsersOf(project, deps).filter(({ metadata }) => metadata.name === session),
  ];
  const found = await Promise.all(owners.map(({ metadata }) => deps.endedLeases.read(metadata.uid, [session])));
  return found.flat().filter((lease) => lease !== undefined);
};
