import { browserPoolRecord } from "../../domain/pool-record.ts";
import { type BrowserPool, browserPoolKind } from "../../resources/browser-pool.ts";
import type { BrowserPoolRecord } from "../../resources/browser-pool-wire.ts";
import type { ServiceDeps } from "../service-deps.ts";

type Deps = Pick<ServiceDeps, "kube" | "policies" | "store">;

/** The pool with its policy in it; undefined when the policy can't be put together. */
const withPolicy = async (pool: BrowserPool, { policies }: Deps): Promise<BrowserPool | undefined> => {
  const ref = pool.spec.chromePolicyRef;
  if (!ref) return pool;
  const chromePolicy = await policies.read(pool.metadata.namespace, ref);
  return chromePolicy && { ...pool, spec: { ...pool.spec, chromePolicy } };
};

/** The policy may have been replaced since `pool` was read. When it is still missing then, it is lost and left out. */
const asAnswered = async (pool: BrowserPool, deps: Deps): Promise<BrowserPool> => {
  const whole = await withPolicy(pool, deps);
  if (whole) return whole;
  const newest = (await deps.kube.get(browserPoolKind, pool.metadata)) ?? pool;
  return (await withPolicy(newest, deps)) ?? newest;
};

/** The pool as answers show it, with its counts of this moment. */
export const poolAnswer = async (pool: BrowserPool, deps: Deps): Promise<BrowserPoolRecord> => {
  const [answered, counts] = await Promise.all([asAnswered(pool, deps), deps.store.counts(pool.metadata.uid)]);
  return browserPoolRecord(answered, counts, { extensionIds: [] });
};
