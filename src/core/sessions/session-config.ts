import { isDeepStrictEqual } from "node:util";
import { LRUCache } from "lru-cache";
import type { LeaseStore } from "../leases/lease-store.ts";
import type { AnyLease, SessionRequest } from "../leases/records.ts";
import { BrowserPoolSpec } from "../model/pools/browser-pool.ts";
import { type SessionConfig, sessionConfigOf } from "../model/settings/browser-config.ts";

/**
 * The configuration of a hash never changes, so each is read once while it is among the recently used ones. One holds a
 * policy of up to 256 KiB, so a bound on their number alone would let them take 250 MB.
 */
const maxKnownConfigs = 1000;
const maxKnownConfigBytes = 32 * 1024 * 1024;
const knownConfigs = new LRUCache<string, SessionConfig>({ max: maxKnownConfigs, maxSize: maxKnownConfigBytes });

/** That of a browser with the default settings. */
export const defaultConfig = sessionConfigOf(BrowserPoolSpec.parse({ size: 1 }));

/** What a lease's request keeps of the configuration of a blank browser, which its pool does not know. */
export const madeOf = (config: SessionConfig): NonNullable<SessionRequest["made"]> => {
  const defaults: Record<string, unknown> = defaultConfig;
  return Object.fromEntries(Object.entries(config).filter(([key, value]) => !isDeepStrictEqual(value, defaults[key])));
};

/** The configuration that a lease's browser was made with; undefined when it is not known any more. */
export const configOf = async (
  lease: Pick<AnyLease, "config">,
  { made, pool }: Pick<SessionRequest, "made" | "pool">,
  deps: { store: LeaseStore },
): Promise<SessionConfig | undefined> => {
  if (made) return { ...defaultConfig, ...made };
  const poolUid = pool.uid;
  const known = knownConfigs.get(lease.config);
  if (known) return known;
  const text = await deps.store.config(poolUid, lease.config);
  if (!text) return undefined;
  // Written by the operator (keepConfig) out of a pool's spec, which the API server has checked.
  const config = JSON.parse(text) as SessionConfig;
  knownConfigs.set(lease.config, config, { size: text.length });
  return config;
};
