/**
 * Runs the loops of pools and of on-demand browsers while this replica leads. Watch callbacks only enqueue keys; a
 * round (controller.ts) does the work.
 *
 * A pool's first browser takes four rounds, from `kubectl apply` to idle:
 *
 *   event                           round                                          result
 *   the watch shows the pool     1  finalizer; the first epoch (plan/recovery.ts)  epoch in the status, then in Redis
 *   round 1 requeues the pool    2  a start is due (plan/starts.ts)                time of the next start, then the pod
 *   the pod's probe succeeds     3  warm, inspection due (plan/next-inspection.ts) an inspection in a queue of its own
 *                                                                                  (inspect/), which registers it as idle
 *   Redis announces the change   4  the status counts it (plan/status.ts)          available: 1, Ready=True
 *
 * A caller can take the browser as soon as it is registered, before round 4.
 */

import type { Logger } from "../../platform/base/log.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { createEventRecorder } from "../../platform/kube/event-recorder.ts";
import { createExpectations } from "../../platform/kube/expectations.ts";
import { type Lead, whenLeadEnds } from "../../platform/kube/leader-election.ts";
import { createObjectGroups, type ObjectGroups } from "../../platform/kube/object-groups.ts";
import { keyOf } from "../../platform/kube/objects.ts";
import type { Change } from "../../platform/kube/reflector.ts";
import { type Requeue, startWorkQueue } from "../../platform/kube/work-queue.ts";
import type { RedisConnection } from "../../platform/redis/connection.ts";
import type { MemoryUse } from "../../platform/redis/memory-use.ts";
import type { AgentClient } from "../leases/agent/agent-client.ts";
import type { EndedLeases } from "../leases/ended-leases.ts";
import type { LeaseStore } from "../leases/lease-store.ts";
import type { LeavingMarks } from "../leases/leaving-marks.ts";
import type { NamesInUse } from "../leases/names-in-use.ts";
import { followPoolChanges } from "../leases/pool-channels.ts";
import type { RepairStore } from "../leases/repair-store.ts";
import type { OperatorMetrics } from "../metrics/operator-metrics.ts";
import type { Browser } from "../model/browsers/browser.ts";
import type { ReportOf } from "../model/browsers/on-demand-pool.ts";
import type { Room } from "../model/pools/autoscale/decide-size.ts";
import type { BrowserPool } from "../model/pools/browser-pool.ts";
import type { BrowserFeature } from "../model/settings/browser-features.ts";
import { referencesOf } from "../model/settings/references.ts";
import type { AgentKeys } from "../protocol/agent-key.ts";
import { createSpecPredicate } from "../reconcile/predicates.ts";
import type { StartGate } from "../reconcile/start-gate.ts";
import type { SessionNames } from "../reservations/session-names.ts";
import type { SetupRequests } from "../setups/setup-requests.ts";
import { createKeySweeps } from "./apply/agent-key-secrets.ts";
import type { NoteProfileUse } from "./apply/note-use.ts";
import { createRefusedStarts } from "./apply/refused-starts.ts";
import { createStartCount } from "./apply/start-count.ts";
import { freeEndedNames } from "./ended/free-ended-names.ts";
import { type EndedLimits, keepEndedBounds } from "./ended/keep-ended-bounds.ts";
import { startInspections } from "./inspect/inspections.ts";
import { watchEpochs } from "./inspect/watch-epochs.ts";
import { createLoopKeys } from "./loop-keys.ts";
import type { AcceptedSessions, SessionKind } from "./observe/accepted-sessions.ts";
import { createAutoscaling } from "./observe/autoscaling.ts";
import type { EndingSavers } from "./observe/ending-savers.ts";
import type { Nodes } from "./observe/nodes.ts";
import type { Refusal } from "./observe/observed.ts";
import type { References } from "./observe/references.ts";
import { browserRefusal, type PoolLimits, refusalOf, roomFor } from "./observe/refusal.ts";
import { createRefused } from "./observe/refused.ts";
import { isOverAsPool, onDemandView } from "./on-demand/browser-as-pool.ts";
import { reconcileOnDemand } from "./on-demand/reconcile-on-demand.ts";
import type { ProfileSaves } from "./on-demand/step-save.ts";
import type { PodSettings } from "./pod/pod.ts";
import { startPodWatch } from "./pod-watch.ts";
import { type PoolSource, type PoolView, poolView, type Statused, startPoolSource } from "./pool-source.ts";
import { type ReconcileDeps, reconcilePool } from "./reconcile.ts";

export type ControllerDeps = {
  kube: Kube;
  store: LeaseStore;
  repairs: RepairStore;
  names: SessionNames;
  namesInUse: NamesInUse;
  leavingMarks: LeavingMarks;
  setupRequests: SetupRequests;
  nodes: Nodes;
  agents: AgentClient;
  /** A connection for subscriptions only, owned by the caller. */
  subscriber: RedisConnection;
  endedLeases: EndedLeases;
  redisMemory(): Promise<MemoryUse[]>;
  podSettings: PodSettings;
  /** What browsers can be given here. */
  features: readonly BrowserFeature[];
  /** How long a session may go on on a node that leaves, ms. */
  drainDeadlineMs: number;
  agentKeys: AgentKeys;
  gate: StartGate;
  references: References;
  saves: ProfileSaves;
  noteProfileUse: NoteProfileUse;
  reportOf: ReportOf;
  savers: EndingSavers;
  /** Shared by both loops. */
  acceptedSessions: AcceptedSessions;
  metrics: OperatorMetrics;
  log: Logger;
};

/**
 * Pools that are reconciled at the same time. A round mostly waits for the API server, some tens of milliseconds a
 * write. With 4 at a time it took 27 s to notice that each of 500 pools had lost a browser. More would cause bursts of
 * calls to the API server.
 */
const concurrency = 16;

/**
 * Changes of counts alone are batched for this time, ms: fresh enough for `kubectl get`, and one status write instead
 * of hundreds. Scripts rely on it (core/leases/scripts/includes/notify.lua).
 */
const batchMs = 500;

/** One kind that the loop runs for, and the round for one of its objects. */
type Loop<T extends Statused> = {
  name: string;
  kind: SessionKind;
  view: PoolView<T>;
  /** Why a pool is refused. `pools`, `accepted`: all objects of the loop, and the sizes that it accepted. */
  refusalOf(pool: BrowserPool, pools: BrowserPool[], accepted: ReadonlyMap<string, number>): Refusal | undefined;
  /** What the limits leave to a pool whose size follows the demand. */
  roomOf(pool: BrowserPool, pools: BrowserPool[], accepted: ReadonlyMap<string, number>): Room;
  /** Whether an object is kept to be read only: no browser is started or leased for it any more. */
  isOver(pool: BrowserPool): boolean;
  /** Keeps what ended sessions leave within its bounds, while this replica leads. */
  keepEnded(source: Pick<PoolSource, "list">): Promise<void>;
  reconcile(key: string, deps: LoopDeps<T>): Promise<Requeue | undefined>;
};

type LoopDeps<T> = ReconcileDeps &
  ControllerDeps & {
    source: PoolSource<T>;
    /** The objects that are over, by their namespace. */
    over: Pick<ObjectGroups<BrowserPool>, "of">;
    now: () => number;
  };

/** Keeps pools at their size while this replica leads. */
export const runPoolController = (
  { endedLimits, ...deps }: ControllerDeps & { limits: PoolLimits; endedLimits: EndedLimits },
  lead: Lead,
): Promise<void> => {
  const { acceptedSessions, features, limits, references } = deps;
  const loop: Loop<BrowserPool> = {
    name: "browser-pool",
    kind: "pools",
    view: poolView,
    refusalOf: (pool, pools, acceptedSizes) =>
      refusalOf({
        pool,
        pools,
        acceptedSizes,
        limits,
        use: acceptedSessions.use(pool),
        objects: references.of(pool),
        features,
      }),
    roomOf: (pool, pools, acceptedSizes) =>
      roomFor({ pool, pools, acceptedSizes, limits, use: acceptedSessions.use(pool) }),
    isOver: () => false,
    async keepEnded(source) {
      const parts = { ...deps, source, endedLimits, check: lead.check };
      await Promise.all([keepEndedBounds(parts, lead.signal), freeEndedNames(parts, lead.signal)]);
    },
    reconcile: reconcilePool,
  };
  return runLoop(loop, deps, lead);
};

/**
 * Starts and ends on-demand browsers while this replica leads. `sessionSeconds`: the longest session that the
 * installation allows.
 */
export const runOnDemandController = (
  { sessionSeconds, ...deps }: ControllerDeps & { sessionSeconds: number },
  lead: Lead,
): Promise<void> => {
  const loop: Loop<Browser> = {
    name: "browser",
    kind: "browsers",
    view: onDemandView,
    refusalOf: (pool, _, acceptedSizes) =>
      browserRefusal(pool, {
        acceptedSizes,
        use: deps.acceptedSessions.use(pool),
        objects: deps.references.of(pool),
        features: deps.features,
      }),
    // Its size is 1 until it is over.
    roomOf: () => ({ size: 1, limit: "SessionsLimit" }),
    isOver: isOverAsPool,
    // Each has one lease, which goes with the object. The other loop frees their names.
    keepEnded: async () => undefined,
    reconcile: (key, each) => reconcileOnDemand(key, { ...each, sessionSeconds }),
  };
  return runLoop(loop, deps, lead);
};

/** `monotonicMs`: of a clock that is never set. */
const clocks = { now: Date.now, monotonicMs: () => performance.now() };

type EventHandlers = {
  disturb(): void;
  onNode(name: string): void;
  onNamespace(name: string): void;
  /** Objects that settings refer to have changed in a namespace. */
  onReferences(namespace: string): void;
  /** The save of a browser's profile goes on; `ownerUid`: of the browser's object. */
  onSave(ownerUid: string): void;
};

/**
 * Subscribes the loop to further event sources: Redis reconnects, nodes, projects, objects that settings refer to.
 * Returns a function that unsubscribes.
 */
const subscribe = (
  { subscriber, nodes, gate, references, saves }: ControllerDeps,
  { disturb, onNode, onNamespace, onReferences, onSave }: EventHandlers,
): (() => void) => {
  // After a reconnect another Redis server may answer, which lacks the last writes.
  subscriber.on("ready", disturb);
  const stops = [
    nodes.subscribe(onNode),
    gate.onChange(onNamespace),
    references.onChange(onReferences),
    saves.onChange(onSave),
    () => subscriber.off("ready", disturb),
  ];
  return () => {
    for (const stop of stops) stop();
  };
};

/** What one replica knows while it leads, and nobody else. */
const createMemory = ({ metrics }: Pick<ControllerDeps, "metrics">) => ({
  expectations: createExpectations(),
  dying: new Set<string>(),
  leasedSince: new Map<string, number>(),
  starts: createStartCount((result) => metrics.started(result)),
  refusedStarts: createRefusedStarts(clocks.monotonicMs),
  keySweeps: createKeySweeps(),
  autoscaling: createAutoscaling(),
});

/** What is remembered of each pool. */
const poolMemories = ({ expectations, refusedStarts, keySweeps, autoscaling }: ReturnType<typeof createMemory>) => [
  expectations,
  refusedStarts,
  keySweeps,
  autoscaling,
];

const runLoop = async <T extends Statused>(loop: Loop<T>, deps: ControllerDeps, lead: Lead): Promise<void> => {
  const { kube, repairs, log } = deps;
  const keys = createLoopKeys(() => queue, batchMs);
  const predicate = createSpecPredicate();
  let disturbedAtMs = clocks.monotonicMs();
  const memory = { ...createMemory(deps), disturbedAtMs: () => disturbedAtMs };
  const disturb = (): void => {
    disturbedAtMs = clocks.monotonicMs();
    keys.addAll(); // messages that were sent while this replica was disconnected are lost
  };

  const refused = createRefused((key) => queue.addBatched(key, batchMs));
  const refusal = (pool: BrowserPool) => refused.note(pool, loop.refusalOf(pool, source.list(), acceptedSizes));
  const roomOf = (pool: BrowserPool): Room => loop.roomOf(pool, source.list(), acceptedSizes);
  const over = createObjectGroups<BrowserPool>((pool) => (loop.isOver(pool) ? pool.metadata.namespace : ""));
  const onPool = (pool: BrowserPool, change: Change): void => {
    const uid = pool.metadata.uid;
    over.note(pool, change);
    if (change === "DELETED") {
      keys.delete(uid);
      predicate.forget(pool);
      acceptedSizes.delete(uid);
      deps.metrics.recovering(uid, 0);
      for (const part of [...poolMemories(memory), watched.foreignPods, inspections, refused]) part.forget(uid);
      refused.retry(); // a name, or room under a limit, may be free now
      return;
    }
    if (pool.spec.size === 0) refused.retry();
    keys.set(pool);
    const hasSpecChanged = predicate.specChanged(pool);
    if (hasSpecChanged) queue.add(keyOf(pool.metadata));
    if (!hasSpecChanged || change === "ADDED") queue.addBatched(keyOf(pool.metadata), batchMs);
  };
  const forgetPod = (uid: string, ownerUid: string | undefined): void => {
    if (ownerUid !== undefined) memory.keySweeps.request(ownerUid);
    memory.dying.delete(uid);
    memory.leasedSince.delete(uid);
    inspections.forget(uid);
    memory.starts.forget(uid);
  };

  const source: PoolSource<T> = startPoolSource({ kube, view: loop.view, onChange: onPool, log });
  const acceptedSizes = deps.acceptedSessions.open(loop.kind, source);
  const record = createEventRecorder(kube, loop.name, log);
  const watched = startPodWatch({
    ...{ ...memory, kube, log, source, keys, record },
    add: (key) => queue.add(key),
    addBatched: (key) => queue.addBatched(key, batchMs),
    onDeleted: forgetPod,
  });
  const queue = startWorkQueue({
    name: loop.name,
    concurrency,
    log,
    meter: deps.metrics.work,
    work: async (key) => {
      const watches = [deps.acceptedSessions, watched.pods, deps.nodes, deps.references, deps.savers];
      await Promise.all(watches.map((watch) => watch.synced(lead.signal)));
      const judging = { acceptedSizes, refusalOf: refusal, roomOf, profileOf: deps.references.profileOf };
      const parts = { ...memory, ...clocks, ...watched, ...judging, source, over, inspections, lead, record };
      return loop.reconcile(key, { ...deps, ...parts });
    },
  });
  const inspections = startInspections({
    ...deps,
    // The label of the queue's metrics; it keeps an older word because dashboards use it.
    name: `${loop.name}-looks`,
    meter: deps.metrics.work,
    ...{ ...memory, pods: watched.pods, lead, record },
    onPool: ({ metadata }) => queue.addBatched(keyOf(metadata), batchMs),
    monotonicMs: clocks.monotonicMs,
  });
  const onReferences = (namespace: string): void => {
    for (const { metadata, spec } of source.list())
      if (metadata.namespace === namespace && referencesOf(spec).length > 0) queue.addBatched(keyOf(metadata), batchMs);
  };
  const handlers = { disturb, onNode: watched.onNode, onNamespace: keys.addNamespace, onReferences, onSave: keys.add };
  const unsubscribe = subscribe(deps, handlers);
  const isSettled = (pool: BrowserPool): boolean =>
    loop.isOver(pool) && watched.podsByOwner.of(pool.metadata.uid).length === 0;
  const onDiffers = (key: string): void => queue.add(key);
  const watching = watchEpochs({ source, repairs, isSettled, onDiffers, onReturn: disturb }, lead.signal);
  try {
    await followPoolChanges(deps.subscriber, keys.addChange, log);
    keys.addAll(); // so are those that were sent before it subscribed
    await Promise.all([whenLeadEnds(lead), loop.keepEnded(source)]);
  } finally {
    unsubscribe();
    await Promise.all([queue.stop(), inspections.stop(), watching]);
    await Promise.all([source.stop(), watched.pods.stop()]);
  }
};
