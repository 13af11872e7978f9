import { setTimeout as sleep } from "node:timers/promises";
import type { Collected } from "../../platform/redis/collect-claims.ts";
import { whileUnavailable } from "../../platform/redis/or-unavailable.ts";
import type { LeaseStore } from "../leases/lease-store.ts";
import type { EndedLease, LeaseRecord } from "../leases/records.ts";
import type { Browser } from "../model/browsers/browser.ts";
import type { BrowserPool } from "../model/pools/browser-pool.ts";
import type { WatchedObjects } from "../objects/watched-objects.ts";
import { isRecovering } from "../pools/use-cases/refuse-while-recovering.ts";

/**
 * How a session stands. `over`: it has ended; `lease`: as far as it is kept. `unknown`: Redis may have lost its lease.
 */
type LeaseState =
  | { kind: "held"; lease: LeaseRecord }
  | { kind: "over"; lease: EndedLease | undefined }
  | { kind: "unknown" };

export type LeaseStateDeps = {
  browsers: WatchedObjects<Browser>;
  pools: WatchedObjects<BrowserPool>;
  store: LeaseStore;
};

/** Reads how a session stands. Throws `unavailable`. */
export const leaseState = async ({ session, poolUid }: Collected, deps: LeaseStateDeps): Promise<LeaseState> => {
  const { store, pools, browsers } = deps;
  const live = await store.lease(poolUid, session);
  if (live) return { kind: "held", lease: live };
  const ended = await store.endedLease(poolUid, session);
  if (ended) return { kind: "over", lease: ended };
  const owner = [...pools.list(), ...browsers.list()].find(({ metadata }) => metadata.uid === poolUid);
  if (owner && (await isRecovering(owner, deps))) return { kind: "unknown" };
  return { kind: "over", lease: undefined };
};

/** How a session stands, once it is known. Rejects with the reason of `signal`. */
export const knownLeaseState = async (
  collected: Collected,
  deps: LeaseStateDeps,
  signal: AbortSignal,
): Promise<Exclude<LeaseState, { kind: "unknown" }>> => {
  for (;;) {
    const state = await whileUnavailable(() => leaseState(collected, deps), { maxPauseMs: 2000, signal });
    if (state.kind !== "unknown") return state;
    await sleep(1000, undefined, { signal });
  }
};
