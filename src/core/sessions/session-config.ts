import { LRUCache } from "lru-cache";
import type { LeaseStore } from "../leases/lease-store.ts";
import type { AnyLease } from "../leases/records.ts";
import type { SessionConfig } from "../model/settings/browser-config.ts";

/**
 * The configuration of a hash never changes, so each is read once while it is among the recently used ones. One holds a
 * policy of up to 256 KiB, so a bound on their number alone would let them take 250 MB.
 */
const maxKnownConfigs = 1000;
const maxKnownConfigBytes = 32 * 1024 * 1024;
const knownConfigs = new LRUCache<string, SessionConfig>({ max: maxKnownConfigs, maxSize: maxKnownConfigBytes });

/** The configuration that a lease's browser was made with; undefined when it is not known any more. */
export const configOf = async (
  lease: Pick<AnyLease, "config">,
  poolUid: string,
  deps: { store: LeaseStore },
): Promise<SessionConfig | undefined> => {
  const known = knownConfigs.get(lease.config);
  if (known) return known;
  const text = await deps.store.config(poolUid, lease.config);
  if (!text) return undefined;
  // Written by the operator (keepConfig) out of a pool's spec, which the API server has checked.
  const config = JSON.parse(text) as SessionConfig;
  knownConfigs.set(lease.config, config, { size: text.length });
  return config;
};
