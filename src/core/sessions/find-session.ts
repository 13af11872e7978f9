import { AppError } from "../../platform/base/errors.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { LeaseStore } from "../leases/lease-store.ts";
import type { NamesComplete } from "../leases/names-in-use.ts";
import type { AnyLease } from "../leases/records.ts";
import { type Browser, browserKind } from "../model/browsers/browser.ts";
import type { BrowserPool } from "../model/pools/browser-pool.ts";
import { fetchObject } from "../objects/fetch-object.ts";
import { isId } from "../objects/new-id.ts";
import type { WatchedObjects } from "../objects/watched-objects.ts";
import { type LeaseOwner, liveOwnersOf, poolsOfSession } from "../pools/use-cases/lease-owners.ts";
import { refuseWhileNamesAreRecovered, refuseWhileRecovering } from "../pools/use-cases/refuse-while-recovering.ts";
import type { CallerLimits } from "../projects/caller-limits.ts";
import type { Project } from "../projects/projects.ts";
import type { SessionNames } from "../reservations/session-names.ts";

/** What finding a session needs. */
export type FindSessionDeps = {
  browsers: WatchedObjects<Browser>;
  callerLimits: CallerLimits;
  kube: Kube;
  names: SessionNames;
  namesComplete: NamesComplete;
  pools: WatchedObjects<BrowserPool>;
  store: LeaseStore;
};

export type FoundSession = { lease: AnyLease; poolUid: string };

/**
 * The on-demand browser with this id that this replica's watch does not show yet. One from YAML may have any id; names
 * that nobody has look like one, so a flood of them costs the API server a few requests only.
 */
const fetchBrowser = async (
  id: string,
  project: Project,
  deps: { callerLimits: CallerLimits; kube: Kube },
): Promise<Browser | undefined> =>
  isId(id) || deps.callerLimits.mayLookFor(project.id) ? fetchObject(browserKind, { id, project }, deps) : undefined;

type Lookup = (poolUid: string) => Promise<AnyLease | undefined>;

const findIn = async (owners: LeaseOwner[], lookup: Lookup): Promise<FoundSession | undefined> => {
  const found = await Promise.all(
    owners.map(async ({ metadata }) => {
      const lease = await lookup(metadata.uid);
      return lease && { lease, poolUid: metadata.uid };
    }),
  );
  return found.find((session) => session !== undefined);
};

/** Says that a session has ended, when and why. `idOrName`: as its caller knows it. */
export const endedMessage = (idOrName: string, { reason, ended_at }: AnyLease): string =>
  `browser ${idOrName} has ended (${reason ?? "unknown"}) at ${new Date(ended_at ?? 0).toISOString()}`;

/** For an on-demand browser without a session: throws when it is still starting or has failed. */
const refuseUnstarted = ({ metadata, status }: Browser): void => {
  if (status?.phase === "Failed") throw new AppError("not_found", `browser ${metadata.name}: ${status.message}`);
  if ((status?.phase ?? "Starting") === "Starting")
    throw new AppError("unavailable", `browser ${metadata.name} is starting; repeat the request`, {
      retryAfterSeconds: 1,
    });
};

/** The pool or browser with this uid. */
const ownersWith = (
  uid: string,
  project: Project,
  deps: { browsers: WatchedObjects<Browser>; pools: WatchedObjects<BrowserPool> },
): LeaseOwner[] => liveOwnersOf(project, deps).filter(({ metadata }) => metadata.uid === uid);

/** A session that has ended, if the caller wants such; else it throws `not_found`. */
const answerEnded = (idOrName: string, found: FoundSession, includeEnded: boolean): FoundSession => {
  if (!includeEnded) throw new AppError("not_found", endedMessage(idOrName, found.lease));
  return found;
};

/**
 * Finds a session of the project by id, else by name among the active ones. Throws `not_found`; for a session that
 * ended within the last day, the message says when and why, or `includeEnded` returns that session instead. Throws
 * `unavailable` while a session that is not found may still be active.
 */
export const findSession = async (
  idOrName: string,
  { project, includeEnded = false }: { project: Project; includeEnded?: boolean },
  deps: FindSessionDeps,
): Promise<FoundSession> => {
  const known = deps.browsers.get({ namespace: project.namespace, name: idOrName });
  const pools = poolsOfSession(idOrName, project, deps);
  // The session of an on-demand browser has the browser's id. YAML can give a browser the id of a pool's session, which
  // is older: ids of sessions are made at random. So the pools come first, also with sessions that have ended
  // (LEASE-65).
  for (const owners of [pools, known ? [known] : []]) {
    const active = await findIn(owners, (uid) => deps.store.lease(uid, idOrName));
    if (active) return active;
    // Before names: the id of a session that has ended stays that session's.
    const ended = await findIn(owners, (uid) => deps.store.endedLease(uid, idOrName));
    if (ended) return answerEnded(idOrName, ended, includeEnded);
  }
  const owner = await deps.names.find(project.id, idOrName);
  const named = owner && (await deps.store.lease(owner.poolUid, owner.session));
  if (owner && named) return { lease: named, poolUid: owner.poolUid };
  if (owner) await refuseWhileRecovering(owner.session, ownersWith(owner.poolUid, project, deps), deps);
  const owners = known ? [...pools, known] : pools;
  return findOnDemand(idOrName, { project, includeEnded, known, owners }, deps);
};

/** `known`: the on-demand browser with the id, if this replica's watch shows one. */
type Sought = { project: Project; includeEnded: boolean; known: Browser | undefined; owners: LeaseOwner[] };

/**
 * For a session that none of `owners` has: it may be that of an on-demand browser which this replica does not know yet.
 */
const findOnDemand = async (
  idOrName: string,
  { project, includeEnded, known, owners }: Sought,
  deps: Omit<FindSessionDeps, "names">,
): Promise<FoundSession> => {
  // The id of a pool's session is none of an on-demand browser.
  const onDemand = known ?? (owners.length > 0 ? undefined : await fetchBrowser(idOrName, project, deps));
  if (!onDemand) {
    if (owners.length > 0) await refuseWhileRecovering(idOrName, owners, deps);
    else await refuseWhileNamesAreRecovered(idOrName, project, deps);
    throw new AppError("not_found", `no browser ${idOrName} in this project`);
  }
  const active = await findIn([onDemand], (uid) => deps.store.lease(uid, idOrName));
  if (active) return active;
  const ended = await findIn([onDemand], (uid) => deps.store.endedLease(uid, idOrName));
  if (ended) return answerEnded(idOrName, ended, includeEnded);
  refuseUnstarted(onDemand);
  await refuseWhileRecovering(idOrName, [onDemand], deps);
  throw new AppError("not_found", `no browser ${idOrName} in this project`);
};
