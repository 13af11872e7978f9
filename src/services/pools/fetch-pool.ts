import { type BrowserPool, browserPoolKind } from "../../resources/browser-pool.ts";
import { wireName } from "../../resources/identity.ts";
import { fetchNamedObject, fetchObjects } from "../objects/fetch-object.ts";
import type { Project } from "../projects/projects.ts";
import type { ServiceDeps } from "../service-deps.ts";

const isThere = (pool: BrowserPool | undefined): pool is BrowserPool =>
  pool !== undefined && !pool.metadata.deletionTimestamp;

const cachedByName = (pools: BrowserPool[], project: Project, name: string): BrowserPool | undefined =>
  pools.find((pool) => pool.metadata.namespace === project.namespace && isThere(pool) && wireName(pool) === name);

/** The pools of a project as the API server has them now, oldest first. */
export const fetchPools = (project: Project, deps: Pick<ServiceDeps, "kube">): Promise<BrowserPool[]> =>
  fetchObjects(browserPoolKind, project, deps);

/** The pool as the API server has it now, by id, else by name. Throws `not_found`. */
export const fetchPool = (idOrName: string, project: Project, deps: Pick<ServiceDeps, "kube">): Promise<BrowserPool> =>
  fetchNamedObject(browserPoolKind, { idOrName, project, what: "browser pool" }, deps);

/** The pool without a round trip where it is known already: for the way of an acquire. Throws `not_found`. */
export const cachedOrFetchedPool = async (
  idOrName: string,
  project: Project,
  deps: ServiceDeps,
): Promise<BrowserPool> => {
  const known = deps.pools.get({ namespace: project.namespace, name: idOrName });
  if (isThere(known)) return known;
  return cachedByName(deps.pools.list(), project, idOrName) ?? fetchPool(idOrName, project, deps);
};
