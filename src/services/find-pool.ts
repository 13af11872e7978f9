import { AppError } from "../errors.ts";
import { type BrowserPool, browserPoolKind } from "../resources/browser-pool.ts";
import { isObjectName, wireName } from "../resources/identity.ts";
import type { Project } from "./projects.ts";
import type { ServiceDeps } from "./service-deps.ts";

const isThere = (pool: BrowserPool | undefined): pool is BrowserPool =>
  pool !== undefined && !pool.metadata.deletionTimestamp;

const byName = (pools: BrowserPool[], project: Project, name: string): BrowserPool | undefined =>
  pools.find((pool) => pool.metadata.namespace === project.namespace && isThere(pool) && wireName(pool) === name);

const notFound = (idOrName: string): AppError =>
  new AppError("not_found", `no browser pool ${idOrName} in this project`);

/** The pools of a project as the API server has them now. */
export const readPools = async (project: Project, { kube }: Pick<ServiceDeps, "kube">): Promise<BrowserPool[]> => {
  const { items } = await kube.list(browserPoolKind, { namespace: project.namespace });
  return (items as BrowserPool[]).filter(isThere);
};

/** The pool as the API server has it now, by id, else by name. Throws `not_found`. */
export const readPool = async (
  idOrName: string,
  project: Project,
  deps: Pick<ServiceDeps, "kube">,
): Promise<BrowserPool> => {
  const byId = isObjectName(idOrName)
    ? await deps.kube.get(browserPoolKind, { namespace: project.namespace, name: idOrName })
    : undefined;
  if (isThere(byId as BrowserPool | undefined)) return byId as BrowserPool;
  const pool = byName(await readPools(project, deps), project, idOrName);
  if (!pool) throw notFound(idOrName);
  return pool;
};

/** The pool without a round trip where it is known already: for the way of an acquire. Throws `not_found`. */
export const findPool = async (idOrName: string, project: Project, deps: ServiceDeps): Promise<BrowserPool> => {
  const known = deps.pools.get({ namespace: project.namespace, name: idOrName });
  if (isThere(known)) return known;
  return byName(deps.pools.list(), project, idOrName) ?? readPool(idOrName, project, deps);
};
