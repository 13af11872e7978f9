/**
 * An on-demand browser from stock: an idle one of a pool that serves on demand and whose browsers have the wanted
 * configuration. It is a lease of that pool as any other, and an on-demand browser to its caller, who destroys it by
 * ending the session. So nobody may have used it before, whatever the pool's `reuse_policy` says. Nothing waits:
 * without such an idle browser another one is started.
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
import { onDemandPoolSpec, onDemandRequest, type ReportOf } from "../model/browsers/on-demand-pool.ts";
import type { BrowserPool } from "../model/pools/browser-pool.ts";
import type { Session } from "../model/sessions/session-wire.ts";
import { configHash } from "../model/settings/browser-config.ts";
import { newSessionId } from "../objects/new-id.ts";
import type { WatchedObjects } from "../objects/watched-objects.ts";
import type { PolicyReader } from "../policies/policy-reader.ts";
import { poolsOf } from "../pools/use-cases/lease-owners.ts";
import type { Project } from "../projects/projects.ts";
import type { SessionNames } from "../reservations/session-names.ts";
import { type SessionProfile, sessionAnswer } from "./session-answer.ts";
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

type Wanted = { spec: BrowserSpec; project: Project; baseUrl: string };

/** Those with the most idle browsers first. */
const candidates = (config: string, project: Project, deps: { pools: WatchedObjects<BrowserPool> }): BrowserPool[] =>
  poolsOf(project, deps)
    .filter(({ metadata, spec }) => spec.serveOnDemand && !metadata.deletionTimestamp && configHash(spec) === config)
    .sort((a, b) => (b.status?.available ?? 0) - (a.status?.available ?? 0))
    .slice(0, mostTried);

/** Takes an idle browser of this configuration; undefined when there is none, or callers of the pool wait for one. */
const take = async (
  pool: BrowserPool,
  { spec, project, config, session }: Wanted & { config: string; session: string },
  deps: HandOutDeps,
  signal: AbortSignal,
): Promise<LeaseRecord | undefined> => {
  const { name: id, uid: poolUid } = pool.metadata;
  const report = spec.reportOutcome ? await deps.reportOf(onDemandPoolSpec(spec), project.namespace) : undefined;
  const request = onDemandRequest(spec, {
    owner: { id, uid: poolUid },
    name: spec.name,
    project: project.id,
    allowedSeconds: deps.config.limits.sessionSeconds,
    report,
    keepsFiles: deps.config.keptFiles.seconds > 0,
  });
  const wanted = { poolUid, session, request, waitMs: 0, mostWaiting: 0, onlyClean: true };
  const acquired = await acquireLease(wanted, deps, signal);
  if (acquired.kind !== "held") return undefined;
  if (acquired.lease.config === config) return acquired.lease;
  // Made before the pool's last change.
  deps.abandonedSessions.add(poolUid, session);
  return undefined;
};

const serveFrom = async (
  pool: BrowserPool,
  wanted: Wanted & { config: string },
  deps: HandOutDeps,
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
  deps: HandOutDeps,
  signal: AbortSignal,
): Promise<StartedSession | undefined> => {
  const config = configHash(onDemandPoolSpec(wanted.spec));
  for (const pool of candidates(config, wanted.project, deps)) {
    const served = await serveFrom(pool, { ...wanted, config }, deps, signal);
    if (served) return served;
  }
  return undefined;
};
