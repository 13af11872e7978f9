import { type BrowserPool, browserPoolKind } from "../../resources/browser-pool.ts";
import { wireName } from "../../resources/identity.ts";
import { listObjects, readObject } from "../objects/find-object.ts";
import type { Project } from "../projects/projects.ts";
import type { ServiceDeps } from "../service-deps.ts";

const isThere = (pool: BrowserPool | undefined): pool is BrowserPool =>
  pool !== undefined && !pool.metadata.deletionTimestamp;

const byName = (pools: BrowserPool[], project: Project, name: string): BrowserPool | undefined =>
  pools.find((pool) => pool.metadata.namespace === project.namespace && isThere(pool) && wireName(pool) === name);

/** The pools of a project as the API server has them now, oldest first. */
export const readPools = (project: Project, deps: Pick<ServiceDeps, "kube">): Promise<BrowserPool[]> =>
  listObjects<BrowserPool>(browserPoolKind, project, deps);

/** The pool as the API server has it now, by id, else by name. Throws `not_found`. */
export const readPool = (idOrName: string, project: Project, deps: Pick<ServiceDeps, "kube">): Promise<BrowserPool> =>
  readObject<BrowserPool>(browserPoolKind, { idOrName, project, what: "browser pool" }, deps);

/** The pool without a round trip where it is known already: for the way of an acquire. Throws `not_found`. */
export const findPool = async (idOrName: string, project: Project, deps: ServiceDeps): Promise<BrowserPool> => {
  const known = deps.pools.get({ namespace: project.namespace, name: idOrName });
  if (isThere(known)) return known;
  return byName(deps.pools.list(), project, idOrName) ?? readPool(idOrName, project, deps);
};
