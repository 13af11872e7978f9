import { AppError } from "../../../platform/base/errors.ts";
import { wireName } from "../../../platform/kinds/identity.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { LeaseStore } from "../../leases/lease-store.ts";
import { isBlank } from "../../model/pools/blank-pool.ts";
import { type BrowserPool, browserPoolKind } from "../../model/pools/browser-pool.ts";
import type { BrowserPoolAnswer } from "../../model/pools/browser-pool-wire.ts";
import { browserPoolAnswer } from "../../model/pools/pool-answer.ts";
import { type ReferencedObjects, referencesOf, resolveReferences } from "../../model/settings/references.ts";
import { fetchNamedObject, fetchObjects } from "../../objects/fetch-object.ts";
import { fetchReferenced } from "../../objects/references.ts";
import type { WatchedObjects } from "../../objects/watched-objects.ts";
import { listedPolicy } from "../../policies/policy-parts.ts";
import type { PolicyReader } from "../../policies/policy-reader.ts";
import type { Project } from "../../projects/projects.ts";

/** Whether callers see the pool. */
const isLive = (pool: BrowserPool | undefined): pool is BrowserPool =>
  pool !== undefined && !pool.metadata.deletionTimestamp && !isBlank(pool);

const cachedByName = (pools: BrowserPool[], project: Project, name: string): BrowserPool | undefined =>
  pools.find((pool) => pool.metadata.namespace === project.namespace && isLive(pool) && wireName(pool) === name);

/** Fetches the pools of a project that callers see, oldest first. */
export const fetchPools = async (project: Project, deps: { kube: Kube }): Promise<BrowserPool[]> =>
  (await fetchObjects(browserPoolKind, project, deps)).filter((pool) => !isBlank(pool));

/** Fetches a pool that callers see by id, else by name. Throws `not_found`. */
export const fetchPool = async (idOrName: string, project: Project, deps: { kube: Kube }): Promise<BrowserPool> => {
  const pool = await fetchNamedObject(browserPoolKind, { idOrName, project, what: "browser pool" }, deps);
  if (isBlank(pool)) throw new AppError("not_found", `no browser pool ${idOrName} in this project`);
  return pool;
};

/**
 * The cached pool, or the fetched one when the cache does not have it: it saves an acquire a round trip. Throws
 * `not_found`.
 */
export const cachedOrFetchedPool = async (
  idOrName: string,
  project: Project,
  deps: { kube: Kube; pools: WatchedObjects<BrowserPool> },
): Promise<BrowserPool> => {
  const known = deps.pools.get({ namespace: project.namespace, name: idOrName });
  if (isLive(known)) return known;
  return cachedByName(deps.pools.list(), project, idOrName) ?? fetchPool(idOrName, project, deps);
};

type Deps = { kube: Kube; policies: PolicyReader; store: LeaseStore };

/** The pool with its policy in the spec; undefined when parts of the policy are missing. */
const withPolicy = async (pool: BrowserPool, { policies }: Deps): Promise<BrowserPool | undefined> => {
  const ref = pool.spec.chromePolicyRef;
  if (!ref) return pool;
  const chromePolicy = await policies.read(pool.metadata.namespace, ref);
  return chromePolicy && { ...pool, spec: { ...pool.spec, chromePolicy } };
};

/**
 * Fetches the pool again when parts are missing: the policy may have been replaced. If they are still missing, it
 * leaves the policy out.
 */
const withNewestPolicy = async (pool: BrowserPool, deps: Deps): Promise<BrowserPool> => {
  const whole = await withPolicy(pool, deps);
  if (whole) return whole;
  const newest = (await deps.kube.get(browserPoolKind, pool.metadata)) ?? pool;
  return (await withPolicy(newest, deps)) ?? newest;
};

/** The objects whose ids the answers of these pools of one project show: profiles and extensions. */
const fetchShown = async (pools: BrowserPool[], deps: Deps): Promise<ReferencedObjects> => {
  const references = pools.flatMap(({ spec: { profile, extensions } }) => referencesOf({ profile, extensions }));
  const [first] = pools;
  return first ? fetchReferenced(references, first.metadata, deps) : {};
};

/** The pool as HTTP answers show it, with its present counts. */
export const describePool = async (pool: BrowserPool, deps: Deps): Promise<BrowserPoolAnswer> => {
  const [answered, counts, objects] = await Promise.all([
    withNewestPolicy(pool, deps),
    deps.store.counts(pool.metadata.uid),
    fetchShown([pool], deps),
  ]);
  return browserPoolAnswer(answered, counts, resolveReferences(pool.spec, objects));
};

/** A page of pools of one project as HTTP lists show them: without large policies, so none is read from ConfigMaps. */
export const describePools = async (pools: BrowserPool[], deps: Deps): Promise<BrowserPoolAnswer[]> => {
  const [objects, counts] = await Promise.all([
    fetchShown(pools, deps),
    Promise.all(pools.map(({ metadata }) => deps.store.counts(metadata.uid))),
  ]);
  return pools.flatMap((pool, index) => {
    const { chromePolicy, ...rest } = pool.spec;
    const policy = listedPolicy(chromePolicy);
    const listed = { ...pool, spec: { ...rest, ...(policy && { chromePolicy: policy }) } };
    const ofPool = counts[index];
    return ofPool ? [browserPoolAnswer(listed, ofPool, resolveReferences(pool.spec, objects))] : [];
  });
};
