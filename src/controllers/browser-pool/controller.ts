import type { Kube } from "../../kube/client.ts";
import { createEventRecorder } from "../../kube/event-recorder.ts";
import { createExpectations } from "../../kube/expectations.ts";
import type { Lead } from "../../kube/leader-election.ts";
import { keyOf, type Pod } from "../../kube/objects.ts";
import { type Reflector, startReflector } from "../../kube/reflector.ts";
import { pods as podType } from "../../kube/resource-type.ts";
import { startWorkQueue } from "../../kube/work-queue.ts";
import type { AgentClient } from "../../leases/agent-client.ts";
import type { LeaseStore } from "../../leases/lease-store.ts";
import { followPoolChanges } from "../../leases/pool-changes.ts";
import type { RedisConnection } from "../../leases/redis.ts";
import type { RepairStore } from "../../leases/repair-store.ts";
import type { SessionNames } from "../../leases/session-names.ts";
import type { Logger } from "../../log.ts";
import { type BrowserPool, browserPoolKind } from "../../resources/browser-pool.ts";
import { startLooks } from "./looks.ts";
import { browserPodSelector, type PodSettings, poolLabel } from "./pod.ts";
import { reconcilePool } from "./reconcile.ts";
import type { PoolLimits } from "./refusal.ts";
import { watchEpochs } from "./watch-epochs.ts";

export type PoolControllerDeps = {
  kube: Kube;
  store: LeaseStore;
  repairs: RepairStore;
  names: SessionNames;
  agents: AgentClient;
  /** A connection for subscriptions only, owned by the caller. */
  subscriber: RedisConnection;
  podSettings: PodSettings;
  limits: PoolLimits;
  log: Logger;
};

/** Pools worked on at the same time. More makes a restart with many pools faster, and costs the API server bursts. */
const concurrency = 4;

/** Changes of mere counts are looked at together after this time, ms: fresh enough for `kubectl get`, and one status write instead of hundreds. Scripts count on it (scripts/includes/notify.lua). */
const settleMs = 500;

/** All that people and the API can ask for in a pool: everything but its status. */
const wishOf = ({ metadata }: BrowserPool): string => {
  const { generation, deletionTimestamp, labels, annotations, finalizers } = metadata;
  return JSON.stringify([generation, deletionTimestamp, labels, annotations, finalizers]);
};

/** Runs the pool loop while this replica leads. Watch callbacks only enqueue keys. */
export const runPoolController = async (deps: PoolControllerDeps, lead: Lead): Promise<void> => {
  const { kube, repairs, log } = deps;
  const { signal } = lead;
  const expectations = createExpectations();
  const dying = new Set<string>();
  const acceptedSizes = new Map<string, number>();
  const keyByUid = new Map<string, string>();
  const wishes = new Map<string, string>();
  let disturbedAtMs = Date.now();
  const disturb = (): void => {
    disturbedAtMs = Date.now();
    for (const key of keyByUid.values()) queue.settle(key, settleMs);
  };

  const onPool = (pool: BrowserPool, change: string): void => {
    const uid = pool.metadata.uid ?? "";
    if (change === "DELETED") {
      keyByUid.delete(uid);
      wishes.delete(uid);
      acceptedSizes.delete(uid);
      expectations.forget(uid);
      looks.forget(uid);
      for (const key of keyByUid.values()) queue.add(key); // a name or a place may be free now
      return;
    }
    keyByUid.set(uid, keyOf(pool.metadata));
    const wish = wishOf(pool);
    // A status that was written comes back by the watch: acted upon at once, every round would bring about the next one.
    if (wishes.get(uid) === wish) queue.settle(keyOf(pool.metadata), settleMs);
    else queue.add(keyOf(pool.metadata));
    wishes.set(uid, wish);
  };
  const forgetPod = (uid: string): void => {
    dying.delete(uid);
    looks.forget(uid);
  };
  const onPod = ({ metadata }: Pod, change: string): void => {
    const poolUid = metadata.labels?.[poolLabel] ?? "";
    expectations.settle(poolUid, metadata.name);
    if (change === "DELETED") forgetPod(metadata.uid ?? "");
    const key = keyByUid.get(poolUid);
    if (key) queue.add(key);
  };

  const pools: Reflector<BrowserPool> = startReflector({ kube, type: browserPoolKind, onChange: onPool, log });
  const pods = startReflector({ kube, type: podType, labelSelector: browserPodSelector, onChange: onPod, log });
  const queue = startWorkQueue({
    name: "browser-pool",
    concurrency,
    log,
    work: async (key) => {
      await Promise.all([pools.synced(signal), pods.synced(signal)]);
      const caches = { pools, pods, expectations, dying, acceptedSizes, disturbedAtMs: () => disturbedAtMs };
      return reconcilePool(key, { ...deps, ...caches, looks, lead, record, now: Date.now });
    },
  });
  const record = createEventRecorder(kube, "browser-pool", log);
  const looks = startLooks({
    ...deps,
    pods,
    dying,
    lead,
    record,
    onPool: ({ metadata }) => queue.settle(keyOf(metadata), settleMs),
    now: Date.now,
  });
  // It may be another server that answers now, one that has not heard of the last writes.
  deps.subscriber.on("ready", disturb);
  const watching = watchEpochs({ pools, repairs, onDiffers: (key) => queue.add(key), onReturn: disturb }, signal);
  try {
    await followPoolChanges(
      deps.subscriber,
      ({ poolUid, urgent }) => {
        const key = keyByUid.get(poolUid);
        if (key && urgent) queue.add(key);
        else if (key) queue.settle(key, settleMs);
      },
      log,
    );
    const stopped = Promise.withResolvers<void>();
    signal.addEventListener("abort", () => stopped.resolve(), { once: true });
    if (signal.aborted) stopped.resolve();
    await stopped.promise;
  } finally {
    deps.subscriber.off("ready", disturb);
    await Promise.all([queue.stop(), looks.stop(), watching]);
    await Promise.all([pools.stop(), pods.stop()]);
  }
};
