import type { Browser } from "../../resources/browser.ts";
import type { BrowserPool } from "../../resources/browser-pool.ts";
import type { Project } from "../projects/projects.ts";
import type { ServiceDeps } from "../service-deps.ts";

/** The pools of a project, also those that are being deleted: their leases still run. */
export const poolsOf = (project: Project, { pools }: Pick<ServiceDeps, "pools">): BrowserPool[] =>
  pools.list().filter(({ metadata }) => metadata.namespace === project.namespace);

/** The on-demand browsers of a project, also those that ended within the last day. */
export const browsersOf = (project: Project, { browsers }: Pick<ServiceDeps, "browsers">): Browser[] =>
  browsers.list().filter(({ metadata }) => metadata.namespace === project.namespace);

/** An object that leases belong to: a pool, or an on-demand browser, which has one lease. */
export type LeaseOwner = BrowserPool | Browser;

/** All lease owners of a project. */
export const leaseOwnersOf = (project: Project, deps: Pick<ServiceDeps, "pools" | "browsers">): LeaseOwner[] => [
  ...poolsOf(project, deps),
  ...browsersOf(project, deps),
];
