import { AppError } from "../../platform/base/errors.ts";
import { wireName } from "../../platform/kinds/identity.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { Tracer } from "../../platform/tracing/tracer.ts";
import type { AgentClient } from "../leases/agent/agent-client.ts";
import { freeName } from "../leases/free-name.ts";
import type { LeaseStore } from "../leases/lease-store.ts";
import { type AnyLease, requestOf } from "../leases/records.ts";
import { type Release, releaseLease } from "../leases/release-lease.ts";
import type { OutcomeReports } from "../leases/report-outcome.ts";
import type { ReturningBrowsers } from "../leases/returning-browsers.ts";
import type { ApiMetrics } from "../metrics/api-metrics.ts";
import type { BrowserPool } from "../model/pools/browser-pool.ts";
import type { ReleaseBrowser } from "../model/sessions/session-wire.ts";
import type { WatchedObjects } from "../objects/watched-objects.ts";
import { fetchPool } from "../pools/use-cases/fetch-pool.ts";
import { poolsOf } from "../pools/use-cases/lease-owners.ts";
import { refuseWhileRecovering } from "../pools/use-cases/refuse-while-recovering.ts";
import type { Project } from "../projects/projects.ts";
import type { SessionNames } from "../reservations/session-names.ts";

/** What ending a session needs. */
export type EndSessionDeps = {
  agents: AgentClient;
  names: SessionNames;
  returningBrowsers: ReturningBrowsers;
  siteReports: OutcomeReports;
  store: LeaseStore;
  tracer?: Tracer | undefined;
};

/** Ends a session and frees its name; returns undefined when the session is not active (any more). */
export const endSession = async (ended: Release, deps: EndSessionDeps): Promise<AnyLease | undefined> => {
  const lease = await releaseLease(ended, deps);
  if (!lease) return undefined;
  await freeName(deps.names, ended.poolUid, lease);
  return lease;
};

/** The pools with this id or name, also those that are being deleted: their sessions can still be released. */
const matchingPools = async (
  idOrName: string,
  project: Project,
  deps: { kube: Kube; pools: WatchedObjects<BrowserPool> },
): Promise<BrowserPool[]> => {
  const known = poolsOf(project, deps).filter((pool) => pool.metadata.name === idOrName || wireName(pool) === idOrName);
  return known.length > 0 ? known : [await fetchPool(idOrName, project, deps)];
};

/** Whether the session has a browser of this pool as an on-demand one, which is destroyed at its end (POOL-22). */
const isOnDemand = async (
  session: string,
  { metadata, spec }: Pick<BrowserPool, "metadata" | "spec">,
  { store }: { store: LeaseStore },
): Promise<boolean> => {
  if (!spec.serveOnDemand) return false;
  const lease = await store.lease(metadata.uid, session);
  return lease !== undefined && requestOf(lease).on_demand === true;
};

/**
 * Gives a browser back to its pool, or destroys it. Throws `not_found` for a session that is not acquired from this
 * pool, and `unavailable` while that is unknown.
 */
export const releaseBrowser = async (
  { idOrName, request }: { idOrName: string; request: ReleaseBrowser },
  project: Project,
  deps: EndSessionDeps & { kube: Kube; metrics: ApiMetrics; pools: WatchedObjects<BrowserPool> },
): Promise<void> => {
  const { session_id: session, reuse } = request;
  const pools = await matchingPools(idOrName, project, deps);
  for (const { metadata, spec } of pools) {
    const returns = reuse && !(await isOnDemand(session, { metadata, spec }, deps)) ? spec.reusePolicy : "none";
    const ended = await endSession({ poolUid: metadata.uid, session, reuse: returns, reason: "released" }, deps);
    if (ended) {
      deps.metrics.releases.inc({ reuse: String(reuse) });
      return;
    }
  }
  await refuseWhileRecovering(session, pools, deps);
  throw new AppError("not_found", `session ${session} is not acquired from this pool`);
};
