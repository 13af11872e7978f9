import { type Browser, isOver } from "../../model/browsers/browser.ts";
import { isBlank } from "../../model/pools/blank-pool.ts";
import type { BrowserPool } from "../../model/pools/browser-pool.ts";
import { mayBeSessionOf } from "../../objects/new-id.ts";
import type { WatchedObjects } from "../../objects/watched-objects.ts";
import type { Project } from "../../projects/projects.ts";

/** All pools of a project that have leases, also those that are being deleted: their leases still run. */
export const leasedPoolsOf = (project: Project, { pools }: { pools: WatchedObjects<BrowserPool> }): BrowserPool[] =>
  pools.list().filter(({ metadata }) => metadata.namespace === project.namespace);

/** Those of them that callers see: without stock for on-demand browsers. */
export const poolsOf = (project: Project, deps: { pools: WatchedObjects<BrowserPool> }): BrowserPool[] =>
  leasedPoolsOf(project, deps).filter((pool) => !isBlank(pool));

/** The pools that a session with this id may belong to: one, but for rare exceptions, or none. */
export const poolsOfSession = (
  id: string,
  project: Project,
  deps: { pools: WatchedObjects<BrowserPool> },
): BrowserPool[] => leasedPoolsOf(project, deps).filter(({ metadata }) => mayBeSessionOf(id, metadata.uid));

/** The on-demand browsers of a project, also those that ended within the last day. */
export const browsersOf = (project: Project, { browsers }: { browsers: WatchedObjects<Browser> }): Browser[] =>
  browsers.list().filter(({ metadata }) => metadata.namespace === project.namespace);

/** An object that leases belong to: a pool, or an on-demand browser, which has one lease. */
export type LeaseOwner = BrowserPool | Browser;

/** All lease owners of a project that may have a lease. */
export const liveOwnersOf = (
  project: Project,
  deps: { browsers: WatchedObjects<Browser>; pools: WatchedObjects<BrowserPool> },
): LeaseOwner[] => [
  ...leasedPoolsOf(project, deps),
  ...browsersOf(project, deps).filter((browser) => !isOver(browser)),
];
