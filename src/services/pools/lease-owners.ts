import type { Browser } from "../../resources/browser.ts";
import type { BrowserPool } from "../../resources/browser-pool.ts";
import type { Project } from "../projects/projects.ts";
import type { ServiceDeps } from "../service-deps.ts";

/** The pools of a project, those being deleted included: their leases still run. */
export const poolsOf = (project: Project, { pools }: Pick<ServiceDeps, "pools">): BrowserPool[] =>
  pools.list().filter(({ metadata }) => metadata.namespace === project.namespace);

/** The on-demand browsers of a project, those that ended within the last day included. */
export const browsersOf = (project: Project, { browsers }: Pick<ServiceDeps, "browsers">): Browser[] =>
  browsers.list().filter(({ metadata }) => metadata.namespace === project.namespace);

/** Whatever keeps leases: pools, and on-demand browsers, each of which has one. */
export type LeaseOwner = BrowserPool | Browser;

/** All that keep leases of a project. */
export const leaseOwnersOf = (project: Project, deps: Pick<ServiceDeps, "pools" | "browsers">): LeaseOwner[] => [
  ...poolsOf(project, deps),
  ...browsersOf(project, deps),
];
