import { wireName } from "../../../platform/kinds/identity.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import { type BrowserPool, browserPoolKind } from "../../model/pools/browser-pool.ts";
import { fetchNamedObject, fetchObjects } from "../../objects/fetch-object.ts";
import type { WatchedObjects } from "../../objects/watched-objects.ts";
import type { Project } from "../../projects/projects.ts";

const isLive = (pool: BrowserPool | undefined): pool is BrowserPool =>
  pool !== undefined && !pool.metadata.deletionTimestamp;

const cachedByName = (pools: BrowserPool[], project: Project, name: string): BrowserPool | undefined =>
  pools.find((pool) => pool.metadata.namespace === project.namespace && isLive(pool) && wireName(pool) === name);

/** Fetches the pools of a project, oldest first. */
export const fetchPools = (project: Project, deps: { kube: Kube }): Promise<BrowserPool[]> =>
  fetchObjects(browserPoolKind, project, deps);

/** Fetches a pool by id, else by name. Throws `not_found`. */
export const fetchPool = (idOrName: string, project: Project, deps: { kube: Kube }): Promise<BrowserPool> =>
  fetchNamedObject(browserPoolKind, { idOrName, project, what: "browser pool" }, deps);

/** The cached pool, or the fetched one when the cache does not have it: it saves an acquire a round trip. Throws `not_found`. */
export const cachedOrFetchedPool = async (
  idOrName: string,
  project: Project,
  deps: { kube: Kube; pools: WatchedObjects<BrowserPool> },
): Promise<BrowserPool> => {
  const known = deps.pools.get({ namespace: project.namespace, name: idOrName });
  if (isLive(known)) return known;
  return cachedByName(deps.pools.list(), project, idOrName) ?? fetchPool(idOrName, project, deps);
};
