import type { EndedLeases } from "../leases/ended-leases.ts";
import type { LeaseStore } from "../leases/lease-store.ts";
import type { AnyLease, LeaseRecord, SessionRequest } from "../leases/records.ts";
import type { Browser } from "../model/browsers/browser.ts";
import type { BrowserPool } from "../model/pools/browser-pool.ts";
import type { WatchedObjects } from "../objects/watched-objects.ts";
import { liveOwnersOf } from "../pools/use-cases/lease-owners.ts";
import type { Project } from "../projects/projects.ts";
import { endedOf, endedPage, searchEnded } from "./ended-sessions.ts";

export type SessionFilter = {
  status: "active" | "deleted" | "all";
  query?: string | undefined;
  tags?: Record<string, string> | undefined;
};

/** `isCut`: older ended sessions may match, too; the search did not look at them. */
type SessionPage = { leases: AnyLease[]; hasMore: boolean; isCut: boolean };

type Paging = { offset: number; limit: number };
type ListDeps = {
  browsers: WatchedObjects<Browser>;
  endedLeases: EndedLeases;
  pools: WatchedObjects<BrowserPool>;
  store: LeaseStore;
};
type Matches = (lease: AnyLease) => boolean;

/** Undefined: every session matches, so that none has to be read to know that. */
const matcherOf = ({ query, tags = {} }: SessionFilter): Matches | undefined => {
  const pairs = Object.entries(tags);
  if (!query && pairs.length === 0) return undefined;
  const wanted = query?.toLowerCase() ?? "";
  return (lease) => {
    // A search reads thousands. Those of the page are checked when they are answered.
    const request = JSON.parse(lease.request) as SessionRequest;
    if (pairs.some(([key, value]) => request.tags?.[key] !== value)) return false;
    if (!query || lease.session === query) return true;
    return [request.name, request.pool.name].some((name) => name?.toLowerCase().includes(wanted) === true);
  };
};

/** All active sessions, the latest first. A pool has as many as browsers, and a project's browsers are limited. */
const activeLeases = async (matches: Matches | undefined, project: Project, deps: ListDeps): Promise<AnyLease[]> => {
  const owners = liveOwnersOf(project, deps);
  const texts = await Promise.all(owners.map(({ metadata }) => deps.store.leaseTexts(metadata.uid)));
  // The scripts alone write these records; the page's records are checked when they are answered.
  const leases = texts.flat().map((text) => JSON.parse(text) as LeaseRecord);
  return (matches ? leases.filter(matches) : leases).sort(
    (a, b) => b.created_at - a.created_at || (a.session < b.session ? -1 : 1),
  );
};

/** The matching ones among the ended sessions: the one whose id the query is, then the latest ones. */
const searchPage = async (
  matches: Matches,
  { query, offset, limit }: SessionFilter & Paging,
  project: Project,
  deps: ListDeps,
): Promise<SessionPage> => {
  const atMost = offset + limit + 1;
  const exact = query ? (await endedOf(query, project, deps)).filter(matches) : [];
  const { leases: latest, isCut } = await searchEnded(matches, { atMost }, project, deps);
  const known = new Set(exact.map(({ session }) => session));
  const leases = [...exact, ...latest.filter(({ session }) => !known.has(session))];
  return { leases: leases.slice(offset, offset + limit), hasMore: leases.length > offset + limit, isCut };
};

/**
 * One page of a project's sessions: the active ones, the latest begin first, then the ended ones, the latest end first.
 * Of the ended ones it reads no more than the page; with a filter, `searchedSessions` at most.
 */
export const listSessions = async (
  wanted: SessionFilter & Paging,
  project: Project,
  deps: ListDeps,
): Promise<SessionPage> => {
  const { status, offset, limit } = wanted;
  const matches = matcherOf(wanted);
  const active = status === "deleted" ? [] : await activeLeases(matches, project, deps);
  const leases = active.slice(offset, offset + limit);
  if (status === "active") return { leases, hasMore: active.length > offset + limit, isCut: false };
  const rest = { offset: Math.max(0, offset - active.length), limit: limit - leases.length };
  const ended = matches
    ? await searchPage(matches, { ...wanted, ...rest }, project, deps)
    : { ...(await endedPage(rest, project, deps)), isCut: false };
  return { leases: [...leases, ...ended.leases], hasMore: ended.hasMore, isCut: ended.isCut };
};
