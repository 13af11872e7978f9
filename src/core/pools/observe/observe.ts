import type { Expectations } from "../../../platform/kube/expectations.ts";
import type { ObjectGroups } from "../../../platform/kube/object-groups.ts";
import { type Pod, refOf } from "../../../platform/kube/objects.ts";
import type { LeaseStore, PoolSnapshot } from "../../leases/lease-store.ts";
import type { Room } from "../../model/pools/autoscale/decide-size.ts";
import type { BrowserPool } from "../../model/pools/browser-pool.ts";
import { presentSize } from "../../model/pools/pool-size.ts";
import { configHash } from "../../model/settings/browser-config.ts";
import type { StartGate } from "../../reconcile/start-gate.ts";
import type { SetupRequests } from "../../setups/setup-requests.ts";
import type { RefusedStarts } from "../apply/refused-starts.ts";
import type { Resizes } from "../apply/resizes.ts";
import type { Inspections } from "../inspect/inspections.ts";
import { type BrowserOwner, whyForeign } from "../pod/own-pod.ts";
import { canTakeSetup, configHashAnnotation, outdatedBy, type PodSettings } from "../pod/pod.ts";
import type { PoolSource } from "../pool-source.ts";
import type { Autoscaling, PoolScaling } from "./autoscaling.ts";
import type { EndingSavers } from "./ending-savers.ts";
import type { Nodes } from "./nodes.ts";
import type {
  LastInspection,
  Observed,
  ObservedPod,
  ProfileVersion,
  Refusal,
  RefusedCreation,
  SaveState,
} from "./observed.ts";
import { isReady, podState } from "./pod-state.ts";

export type ObserveDeps = {
  source: Pick<PoolSource, "get" | "meta">;
  podsByOwner: Pick<ObjectGroups<Pod>, "of" | "size">;
  store: Pick<LeaseStore, "snapshot" | "endedLease">;
  expectations: Expectations;
  autoscaling: Autoscaling;
  refusedStarts: Pick<RefusedStarts, "of">;
  /** What the limits leave to a pool. */
  roomOf: (pool: BrowserPool) => Room;
  /** Uids of pods that this replica has deleted or is deleting. */
  dying: Set<string>;
  /**
   * Sizes accepted in earlier rounds, by pool uid. `observePool` checks the limits and writes here without an `await`
   * between, so two pools can't both take the last room under the limit.
   */
  acceptedSizes: Map<string, number>;
  inspections: Pick<Inspections, "lastInspection" | "askedUnder" | "agentEpoch">;
  /** Since when browsers were leased when Redis last knew, by pod uid. `observePool` writes here. */
  leasedSince: Map<string, number>;
  resizes: Pick<Resizes, "mayTry">;
  nodes: Pick<Nodes, "find">;
  setupRequests: Pick<SetupRequests, "stateOf">;
  /** By `monotonicMs`, as the times of inspections are. */
  disturbedAtMs: () => number;
  /** ms of a clock that is never set. */
  monotonicMs: () => number;
  podSettings: PodSettings;
  /** How long a session may go on on a node that leaves, ms. */
  drainDeadlineMs: number;
  /** The session of the object with this key; left out for kinds whose objects have many sessions. */
  sessionOf?: (key: string) => string;
  gate: Pick<StartGate, "waitsFor">;
  /** Why the spec can't be carried out; undefined when it can. */
  refusalOf: (pool: BrowserPool) => Refusal | undefined;
  savers: Pick<EndingSavers, "has">;
  /** Of the browser of this round. */
  save?: SaveState | undefined;
  profileOf: (pool: BrowserPool) => ProfileVersion | undefined;
};

/** `own`: the browsers of the owner. `foreign`: other pods with its label. */
export const podsOf = (
  owner: BrowserOwner,
  { podsByOwner }: Pick<ObserveDeps, "podsByOwner">,
): { own: Pod[]; foreign: Pod[] } => {
  const labelled = podsByOwner.of(owner.metadata.uid);
  const isOwn = (pod: Pod): boolean => whyForeign(pod, owner) === undefined;
  return { own: labelled.filter(isOwn), foreign: labelled.filter((pod) => !isOwn(pod)) };
};

/** Converts the times of an inspection from this process's monotonic clock to Redis' clock, which rounds use. */
const byRedisClock = (inspection: LastInspection | undefined, offsetMs: number): LastInspection | undefined =>
  inspection && {
    ...inspection,
    atMs: inspection.atMs + offsetMs,
    failingSinceMs: inspection.failingSinceMs + offsetMs,
  };

/** How the deliveries of setups stand, by pod uid. */
const setupStates = async (
  pods: Pod[],
  { setupRequests }: ObserveDeps,
): Promise<Map<string, NonNullable<ObservedPod["setup"]>>> => {
  const waiting = pods.filter((pod) => canTakeSetup(pod) && !isReady(pod));
  const states = waiting.map(
    async ({ metadata }) => [metadata.uid, (await setupRequests.stateOf(metadata.uid)) ?? { is: "awaited" }] as const,
  );
  return new Map(await Promise.all(states));
};

type Accepting = Pick<ObserveDeps, "acceptedSizes" | "autoscaling" | "roomOf" | "refusalOf" | "monotonicMs">;

/** Whether the spec is in force, and the size that follows; without an `await`, see `acceptedSizes`. */
const acceptSize = (
  pool: BrowserPool,
  leases: PoolSnapshot,
  { acceptedSizes, autoscaling, roomOf, refusalOf, monotonicMs }: Accepting,
): { refusal: Refusal | undefined; scaling: PoolScaling | undefined } => {
  const { uid } = pool.metadata;
  const refusal = refusalOf(pool);
  if (refusal || !pool.spec.autoscale) autoscaling.forget(uid);
  if (refusal) return { refusal, scaling: undefined };
  const size = acceptedSizes.get(uid) ?? pool.status?.acceptedSize ?? 0;
  const scaling = pool.spec.autoscale
    ? autoscaling.decide({ pool, leases, size, room: roomOf(pool), monotonicMs: monotonicMs() })
    : undefined;
  acceptedSizes.set(uid, scaling?.size ?? presentSize(pool));
  return { refusal, scaling };
};

/** The start that was refused last, with its times by Redis' clock. */
const refusedCreation = (
  pool: BrowserPool,
  offsetMs: number,
  { refusedStarts, monotonicMs }: ObserveDeps,
): RefusedCreation | undefined => {
  const refused = refusedStarts.of(pool);
  if (!refused) return undefined;
  const { message, mayExist, nextMs, shownFromMs } = refused;
  return { message, mayExist, nextMs: nextMs + offsetMs, isShown: shownFromMs <= monotonicMs() };
};

/** Does all reads of one round; returns undefined when the pool is gone. */
export const observePool = async (key: string, deps: ObserveDeps): Promise<Observed | undefined> => {
  const known = deps.source.get(refOf(key));
  if (!known) return undefined;
  const { uid } = known.metadata;
  const owner = { ...known, ...deps.source.meta };
  const leases = await deps.store.snapshot(uid);
  const offsetMs = leases.nowMs - deps.monotonicMs();
  const nodes = await deps.nodes.find(podsOf(owner, deps).own.flatMap(({ spec }) => spec?.nodeName ?? []));
  const setups = await setupStates(podsOf(owner, deps).own, deps);
  const profile = deps.profileOf(known);
  const isAwaited = [...setups.values()].some(({ is }) => is === "awaited");
  const awaitsSave = profile !== undefined && isAwaited && (await deps.savers.has(profile.uid));
  const session = deps.sessionOf?.(key);
  const ended = session ? await deps.store.endedLease(uid, session) : undefined;
  // Read again after the wait, to see what changed meanwhile.
  const pool = deps.source.get(refOf(key));
  if (pool?.metadata.uid !== uid) return undefined;

  const records = new Map(leases.browsers.map((browser) => [browser.id, browser]));
  const { refusal, scaling } = acceptSize(pool, leases, deps);

  const isOutdated = outdatedBy(deps.podSettings);
  const { own, foreign } = podsOf(owner, deps);
  const pods = own.flatMap((pod): ObservedPod[] => {
    const { name, uid: podUid, annotations } = pod.metadata;
    const isDying = deps.dying.has(podUid);
    const browser = records.get(podUid);
    if (browser?.state === "leased") deps.leasedSince.set(podUid, browser.since);
    else if (browser) deps.leasedSince.delete(podUid);
    const state = podState(pod, { browser, isDying });
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
        setup: state.is === "starting" ? setups.get(podUid) : undefined,
        node: nodes.get(pod.spec?.nodeName ?? ""),
        inspection: byRedisClock(deps.inspections.lastInspection(podUid), offsetMs),
        askedUnder: deps.inspections.askedUnder(podUid),
        leasedSinceMs: deps.leasedSince.get(podUid),
        mayResize: deps.resizes.mayTry(podUid),
      },
    ];
  });
  return {
    pool,
    pods,
    foreign,
    leases,
    pendingCreations: deps.expectations.pending(uid),
    refusedCreation: refusedCreation(pool, offsetMs, deps),
    configHash: configHash(pool.spec),
    profileVersion: deps.profileOf(pool),
    awaitsSave,
    save: deps.save,
    refusal,
    scaling,
    waitsFor: deps.gate.waitsFor(pool.metadata.namespace),
    agentEpoch: deps.inspections.agentEpoch(uid),
    ended,
    drainDeadlineMs: deps.drainDeadlineMs,
    fleet: deps.podsByOwner.size(),
    disturbedAtMs: deps.disturbedAtMs() + offsetMs,
  };
};
