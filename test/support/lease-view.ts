/** Reads the leases of a running installation directly from Redis, not through its API. */

import { createLeaseStore, type LeaseStore } from "../../src/core/leases/lease-store.ts";
import { browserPoolKind } from "../../src/core/model/pools/browser-pool.ts";
import { createLogger } from "../../src/platform/base/log.ts";
import type { Kube } from "../../src/platform/kube/client.ts";
import { connectRedis, whenReady } from "../../src/platform/redis/connection.ts";

export type LeaseView = {
  store: LeaseStore;
  uidOf(poolId: string): Promise<string>;
  /** Uids of the pods whose browsers are in this state. */
  podsIn(poolId: string, state: string): Promise<string[]>;
  /** The uid of the pod whose browser the session holds. */
  podOf(poolId: string, sessionId: string): Promise<string>;
  close(): void;
};

export const viewLeases = async (redisUrl: string, kube: Kube, namespace = "default"): Promise<LeaseView> => {
  const redis = connectRedis(redisUrl, createLogger("silent", "test"));
  await whenReady(redis, 10_000);
  const store = createLeaseStore(redis);
  const uids = new Map<string, string>();
  // Kept, so that the uid is known while the API server is away.
  const uidOf = async (name: string): Promise<string> => {
    const uid = uids.get(name) ?? (await kube.get(browserPoolKind, { namespace, name }))?.metadata.uid ?? "";
    uids.set(name, uid);
    return uid;
  };
  return {
    store,
    uidOf,
    podsIn: async (poolId, state) =>
      (await store.snapshot(await uidOf(poolId))).browsers.flatMap((browser) =>
        browser.state === state ? browser.id : [],
      ),
    podOf: async (poolId, sessionId) => (await store.lease(await uidOf(poolId), sessionId))?.browser ?? "",
    close: () => redis.disconnect(),
  };
};
