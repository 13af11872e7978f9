import { browserPoolRecord } from "../../domain/pool-record.ts";
import { type BrowserPool, browserPoolKind } from "../../resources/browser-pool.ts";
import type { BrowserPoolRecord } from "../../resources/browser-pool-wire.ts";
import type { ServiceDeps } from "../service-deps.ts";

type Deps = Pick<ServiceDeps, "kube" | "policies" | "store">;

/** The pool with its policy in the spec; undefined when parts of the policy are missing. */
const withPolicy = async (pool: BrowserPool, { policies }: Deps): Promise<BrowserPool | undefined> => {
  const ref = pool.spec.chromePolicyRef;
  if (!ref) return pool;
  const chromePolicy = await policies.read(pool.metadata.namespace, ref);
  return chromePolicy && { ...pool, spec: { ...pool.spec, chromePolicy } };
};

/**
 * Fetches the pool again when parts are missing: the policy may have been replaced. If they are still missing, it leaves the
 * policy out.
 */
const withNewestPolicy = async (pool: BrowserPool, deps: Deps): Promise<BrowserPool> => {
  const whole = await withPolicy(pool, deps);
  if (whole) return whole;
  const newest = (await deps.kube.get(browserPoolKind, pool.metadata)) ?? pool;
  return (await withPolicy(newest, deps)) ?? newest;
};

/** The pool as HTTP answers show it, with its present counts. */
export const poolAnswer = async (pool: BrowserPool, deps: Deps): Promise<BrowserPoolRecord> => {
  const [answered, counts] = await Promise.all([withNewestPolicy(pool, deps), deps.store.counts(pool.metadata.uid)]);
  return browserPoolRecord(answered, counts, { extensionIds: [] });
};
