import { configHash } from "../../domain/browser-config.ts";
import type { Expectations } from "../../kube/expectations.ts";
import { type Pod, refOf } from "../../kube/objects.ts";
import type { Reflector } from "../../kube/reflector.ts";
import type { LeaseStore } from "../../leases/lease-store.ts";
import type { BrowserPool } from "../../resources/browser-pool.ts";
import type { Looks } from "./looks.ts";
import { configHashAnnotation, poolLabel } from "./pod.ts";
import { podState } from "./pod-state.ts";
import { type PoolLimits, refusalOf } from "./refusal.ts";
import type { Seen } from "./seen.ts";

export type ObserveDeps = {
  pools: Reflector<BrowserPool>;
  pods: Reflector<Pod>;
  store: Pick<LeaseStore, "snapshot">;
  expectations: Expectations;
  /** Uids of pods whose deletion was asked for and is not seen yet. */
  dying: Set<string>;
  /** Sizes accepted in earlier rounds, by pool uid; written here in the same turn as the judgement, so that two pools can't both take the last places. */
  acceptedSizes: Map<string, number>;
  looks: Pick<Looks, "lookedAt" | "agentEpoch">;
  disturbedAtMs: () => number;
  limits: PoolLimits;
};

const podsOf = (pods: Reflector<Pod>, poolUid: string): Pod[] =>
  pods.list().filter(({ metadata }) => metadata.labels?.[poolLabel] === poolUid);

/** All reads of one round; undefined when the pool is gone. */
export const observePool = async (key: string, deps: ObserveDeps): Promise<Seen | undefined> => {
  const uid = deps.pools.get(refOf(key))?.metadata.uid;
  const leases = uid && (await deps.store.snapshot(uid));
  // Read after the wait: what changed meanwhile has to count.
  const pool = deps.pools.get(refOf(key));
  if (!pool || !uid || !leases || pool.metadata.uid !== uid) return undefined;

  const records = new Map(leases.browsers.map((browser) => [browser.id, browser]));
  const refusal = refusalOf({ pool, pools: deps.pools.list(), acceptedSizes: deps.acceptedSizes, limits: deps.limits });
  if (!refusal) deps.acceptedSizes.set(uid, pool.spec.size);

  const pods = podsOf(deps.pods, uid).flatMap((pod) => {
    const podUid = pod.metadata.uid ?? "";
    const isDying = deps.dying.has(podUid);
    const state = podState(pod, records.get(podUid), isDying);
    if (state.is === "ended" && isDying) return [];
    const hash = pod.metadata.annotations?.[configHashAnnotation] ?? "";
    const look = deps.looks.lookedAt(podUid);
    return [{ pod, uid: podUid, name: pod.metadata.name, configHash: hash, browser: records.get(podUid), state, look }];
  });
  return {
    pool,
    pods,
    leases,
    pendingCreations: deps.expectations.pending(uid),
    configHash: configHash(pool.spec),
    refusal,
    agentEpoch: deps.looks.agentEpoch(uid),
    disturbedAtMs: deps.disturbedAtMs(),
  };
};
