import { configHash } from "../../../domain/browser-config.ts";
import type { Expectations } from "../../../kube/expectations.ts";
import { type Pod, refOf } from "../../../kube/objects.ts";
import type { Reflector } from "../../../kube/reflector.ts";
import type { LeaseStore } from "../../../leases/lease-store.ts";
import type { StartGate } from "../../start-gate.ts";
import type { Inspections } from "../inspect/inspections.ts";
import { configHashAnnotation, outdatedBy, type PodSettings, poolLabel } from "../pod/pod.ts";
import type { PoolSource } from "../pool-source.ts";
import type { Nodes } from "./nodes.ts";
import type { LastInspection, Observed, ObservedPod } from "./observed.ts";
import { podState } from "./pod-state.ts";
import { type PoolLimits, refusalOf } from "./refusal.ts";

export type ObserveDeps = {
  source: Pick<PoolSource, "get" | "list">;
  pods: Reflector<Pod>;
  store: Pick<LeaseStore, "snapshot" | "endedLease">;
  expectations: Expectations;
  /** Uids of pods whose deletion was asked for here. */
  dying: Set<string>;
  /** Sizes accepted in earlier rounds, by pool uid; written here in the same turn as the judgement, so that two pools can't both take the last places. */
  acceptedSizes: Map<string, number>;
  inspections: Pick<Inspections, "lastInspection" | "agentEpoch">;
  nodes: Pick<Nodes, "find">;
  /** By `steadyMs`, as the looks are. */
  disturbedAtMs: () => number;
  /** ms of a clock that nobody sets. */
  monotonicMs: () => number;
  podSettings: PodSettings;
  /** The session that the object of this key is for; left out where objects have many. */
  sessionOf?: (key: string) => string;
  gate: Pick<StartGate, "waitsFor">;
  /** Undefined: the kind has no limits beyond its schema. */
  limits: PoolLimits | undefined;
};

const podsOf = (pods: Reflector<Pod>, poolUid: string): Pod[] =>
  pods.list().filter(({ metadata }) => metadata.labels?.[poolLabel] === poolUid);

/**
 * Looks and disturbances by Redis' clock, which a round goes by: however a clock is set, what was ten seconds ago here was
 * ten seconds ago there.
 */
const byTheClock = (look: LastInspection | undefined, aheadMs: number): LastInspection | undefined =>
  look && { ...look, atMs: look.atMs + aheadMs, failingSinceMs: look.failingSinceMs + aheadMs };

/** All reads of one round; undefined when the pool is gone. */
export const observePool = async (key: string, deps: ObserveDeps): Promise<Observed | undefined> => {
  const uid = deps.source.get(refOf(key))?.metadata.uid;
  const leases = uid && (await deps.store.snapshot(uid));
  const nodes = await deps.nodes.find(podsOf(deps.pods, uid ?? "").flatMap(({ spec }) => spec?.nodeName ?? []));
  const session = uid && deps.sessionOf?.(key);
  const ended = session ? await deps.store.endedLease(uid, session) : undefined;
  // Read after the wait: what changed meanwhile has to count.
  const pool = deps.source.get(refOf(key));
  if (!pool || !uid || !leases || pool.metadata.uid !== uid) return undefined;

  const aheadMs = leases.nowMs - deps.monotonicMs();
  const records = new Map(leases.browsers.map((browser) => [browser.id, browser]));
  const { limits, acceptedSizes } = deps;
  const refusal = limits && refusalOf({ pool, pools: deps.source.list(), acceptedSizes, limits });
  if (!refusal) deps.acceptedSizes.set(uid, pool.spec.size);

  const isOutdated = outdatedBy(deps.podSettings);
  const pods = podsOf(deps.pods, uid).flatMap((pod): ObservedPod[] => {
    const { name, uid: podUid, annotations } = pod.metadata;
    const isDying = deps.dying.has(podUid);
    const browser = records.get(podUid);
    const state = podState(pod, browser, isDying);
    if (state.is === "ended" && isDying) return [];
    return [
      {
        pod,
        uid: podUid,
        name,
        configHash: annotations?.[configHashAnnotation] ?? "",
        browser,
        state,
        isOutdated: isOutdated(pod),
        node: nodes.get(pod.spec?.nodeName ?? ""),
        inspection: byTheClock(deps.inspections.lastInspection(podUid), aheadMs),
      },
    ];
  });
  return {
    pool,
    pods,
    leases,
    pendingCreations: deps.expectations.pending(uid),
    configHash: configHash(pool.spec),
    refusal,
    waitsFor: deps.gate.waitsFor(pool.metadata.namespace),
    agentEpoch: deps.inspections.agentEpoch(uid),
    ended,
    disturbedAtMs: deps.disturbedAtMs() + aheadMs,
  };
};
