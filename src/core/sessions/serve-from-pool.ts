/**
 * An on-demand browser from stock: an idle one of a pool that serves on demand and whose browsers have the wanted
 * configuration, or a blank one, which is started with it. It is a lease of that pool as any other, and an on-demand
 * browser to its caller, who destroys it by ending the session. So nobody may have used it before, whatever the pool's
 * `reuse_policy` says. Nothing waits: without such an idle browser another one is started.
 */

import type { KeyObject } from "node:crypto";
import type { Logger } from "../../platform/base/log.ts";
import { retryBriefly } from "../../platform/redis/or-unavailable.ts";
import type { Tracer } from "../../platform/tracing/tracer.ts";
import type { Config } from "../config/config.ts";
import type { AbandonedSessions } from "../leases/abandoned-sessions.ts";
import { acquireLease } from "../leases/acquire-lease.ts";
import type { AgentClient } from "../leases/agent/agent-client.ts";
import type { Grants } from "../leases/grants.ts";
import type { LeaseStore } from "../leases/lease-store.ts";
import type { LeaseRecord } from "../leases/records.ts";
import type { BrowserSpec } from "../model/browsers/browser.ts";
import {
  onDemandPoolSpec,
  onDemandRequest,
  type PoolLikeSpec,
  type ReportOf,
} from "../model/browsers/on-demand-pool.ts";
import { isBlank } from "../model/pools/blank-pool.ts";
import type { BrowserPool } from "../model/pools/browser-pool.ts";
import type { Session } from "../model/sessions/session-wire.ts";
import { configHash, sessionConfigOf } from "../model/settings/browser-config.ts";
import { newSessionId } from "../objects/new-id.ts";
import type { WatchedObjects } from "../objects/watched-objects.ts";
import type { PolicyReader } from "../policies/policy-reader.ts";
import { leasedPoolsOf } from "../pools/use-cases/lease-owners.ts";
import type { Project } from "../projects/projects.ts";
import type { SessionNames } from "../reservations/session-names.ts";
import { type RoomDeps, reserveRoom } from "./reserve-room.ts";
import { type SessionProfile, sessionAnswer } from "./session-answer.ts";
import { madeOf } from "./session-config.ts";
import { type StartBlankDeps, startBlank } from "./start-blank.ts";
import { answerHeld, type CollectingDeps, type StartedSession, startSession } from "./start-session.ts";

/** What giving out a browser of a pool needs. */
export type HandOutDeps = CollectingDeps & {
  abandonedSessions: AbandonedSessions;
  agents: AgentClient;
  config: Config;
  grants: Grants;
  log: Logger;
  names: SessionNames;
  policies: PolicyReader;
  pools: WatchedObjects<BrowserPool>;
  reportOf: ReportOf;
  sessionProfile: SessionProfile;
  signingKey: KeyObject;
  store: LeaseStore;
  tracer?: Tracer | undefined;
};

/** Pools that are tried for one browser: the caller waits for each. */
const mostTried = 3;

/** A request that counts sessions has done so after this time, ms. */
const countedMs = 1000;

type Wanted = { spec: BrowserSpec; project: Project; baseUrl: string };

/** `like`: the spec as that of a pool, whose configuration has the hash `config`. */
type Sought = Wanted & { like: PoolLikeSpec; config: string };
type Looked = Sought & { session: string };

/** What giving out a browser of a pool to an on-demand request needs. */
type ServeDeps = HandOutDeps & StartBlankDeps & RoomDeps;

/**
 * Whether a blank browser of this pool can become the wanted one: its pod is the same. The operator saves a profile of
 * its own browsers alone.
 */
const canBecome = ({ spec }: BrowserPool, wanted: PoolLikeSpec): boolean =>
  spec.blank === true &&
  spec.headless === wanted.headless &&
  spec.memory === wanted.memory &&
  !wanted.gpu &&
  !wanted.savesProfile;

/** Those whose browsers are up first, then those with the most idle browsers. */
const candidates = (
  { config, like }: { config: string; like: PoolLikeSpec },
  project: Project,
  deps: { pools: WatchedObjects<BrowserPool> },
): BrowserPool[] =>
  leasedPoolsOf(project, deps)
    .filter(({ metadata }) => !metadata.deletionTimestamp)
    .filter((pool) => (pool.spec.serveOnDemand && configHash(pool.spec) === config) || canBecome(pool, like))
    .sort((a, b) => Number(isBlank(a)) - Number(isBlank(b)) || (b.status?.available ?? 0) - (a.status?.available ?? 0))
    .slice(0, mostTried);

/** Takes an idle browser and binds it; undefined when there is none, or callers of the pool wait for one. */
const takeIdle = async (
  pool: BrowserPool,
  { spec, like, project, session }: Looked,
  deps: HandOutDeps,
  signal: AbortSignal,
): Promise<LeaseRecord | undefined> => {
  const { name: id, uid: poolUid } = pool.metadata;
  const report = spec.reportOutcome ? await deps.reportOf(like, project.namespace) : undefined;
  const request = onDemandRequest(spec, {
    owner: { id, uid: poolUid },
    name: spec.name,
    project: project.id,
    allowedSeconds: deps.config.limits.sessionSeconds,
    report,
    keepsFiles: deps.config.keptFiles.seconds > 0,
  });
  const made = isBlank(pool) && { made: madeOf(sessionConfigOf(like)) };
  const wanted = { poolUid, session, request: { ...request, ...made }, waitMs: 0, mostWaiting: 0, onlyClean: true };
  const acquired = await acquireLease(wanted, deps, signal);
  return acquired.kind === "held" ? acquired.lease : undefined;
};

/** Takes an idle browser of this configuration, or gives it to a blank one; undefined when there is none. */
const take = async (
  pool: BrowserPool,
  wanted: Looked,
  deps: ServeDeps,
  signal: AbortSignal,
): Promise<LeaseRecord | undefined> => {
  const { like, config, project, session } = wanted;
  const free = isBlank(pool) ? await reserveRoom(session, project, deps) : undefined;
  const lease = await takeIdle(pool, wanted, deps, signal).catch(rethrowAfter(() => void free?.()));
  if (!lease) {
    await free?.();
    return undefined;
  }
  // From its take on the lease is counted, by whoever reads the leases after that.
  if (free) setTimeout(free, countedMs).unref();
  const abandon = (): void => deps.abandonedSessions.add(pool.metadata.uid, session);
  const isAsWanted = isBlank(pool)
    ? startBlank(lease, { spec: like, namespace: project.namespace }, deps)
    : Promise.resolve(lease.config === config); // or made before the pool's last change
  if (await isAsWanted.catch(rethrowAfter(abandon))) return lease;
  abandon();
  return undefined;
};

const rethrowAfter =
  (work: () => void) =>
  (error: unknown): never => {
    work();
    throw error;
  };

const serveFrom = async (
  pool: BrowserPool,
  wanted: Sought,
  deps: ServeDeps,
  signal: AbortSignal,
): Promise<StartedSession | undefined> => {
  const { spec, project, baseUrl } = wanted;
  const poolUid = pool.metadata.uid;
  const owner = { poolUid, session: newSessionId(poolUid) };
  const acquire = async (): Promise<Session | undefined> => {
    const lease = await take(pool, { ...wanted, session: owner.session }, deps, signal);
    if (!lease) return undefined;
    const answer = retryBriefly(() => sessionAnswer(lease, baseUrl, deps), signal);
    return answerHeld(answer, owner, deps, signal);
  };
  return startSession({ owner, name: spec.name, project }, acquire, deps, signal);
};

/**
 * A browser of a pool for `POST /browsers`, bound to its session; undefined when one has to be started. Throws
 * `name_taken`, and what an acquire throws. `signal`: aborted when the caller is gone; then no browser stays taken.
 */
export const serveFromPool = async (
  wanted: Wanted,
  deps: ServeDeps,
  signal: AbortSignal,
): Promise<{ started: StartedSession; from: "pool" | "blank" } | undefined> => {
  const like = onDemandPoolSpec(wanted.spec);
  const sought = { ...wanted, like, config: configHash(like) };
  for (const pool of candidates(sought, wanted.project, deps)) {
    const started = await serveFrom(pool, sought, deps, signal);
    if (started) return { started, from: isBlank(pool) ? "blank" : "pool" };
  }
  return undefined;
};
