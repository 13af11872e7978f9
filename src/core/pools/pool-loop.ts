/**
 * The loop that keeps the browsers of one kind of objects while this replica leads: of pools, or of on-demand browsers.
 * Watch callbacks only enqueue keys; a round (reconcile.ts) does the work.
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
 *
 * Losses of browsers are noted in a queue of their own, before rounds go on (apply/note-losses.ts).
 */

import type { Logger } from "../../platform/base/log.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { createEventRecorder } from "../../platform/kube/event-recorder.ts";
import { createExpectations } from "../../platform/kube/expectations.ts";
import { type Lead, whenLeadEnds } from "../../platform/kube/leader-election.ts";
import { createObjectGroups, type ObjectGroups } from "../../platform/kube/object-groups.ts";
import { keyOf, type Pod } from "../../platform/kube/objects.ts";
import type { Change } from "../../platform/kube/reflector.ts";
import { type Requeue, startWorkQueue } from "../../platform/kube/work-queue.ts";
import type { RedisConnection } from "../../platform/redis/connection.ts";
import type { MemoryUse } from "../../platform/redis/memory-use.ts";
import type { Tracer } from "../../platform/tracing/tracer.ts";
import type { AgentClient } from "../leases/agent/agent-client.ts";
import type { EndedLeases } from "../leases/ended-leases.ts";
import type { LeaseStore } from "../leases/lease-store.ts";
import type { LeavingMarks } from "../leases/leaving-marks.ts";
import type { NamesInUse } from "../leases/names-in-use.ts";
import { followPoolChanges } from "../leases/pool-channels.ts";
import type { RepairStore } from "../leases/repair-store.ts";
import type { OperatorMetrics } from "../metrics/operator-metrics.ts";
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
import { noteLosses, startLosses } from "./apply/note-losses.ts";
import type { NoteProfileUse } from "./apply/note-use.ts";
import { createRefusedStarts } from "./apply/refused-starts.ts";
import { createResizes } from "./apply/resizes.ts";
import { createStartCount } from "./apply/start-count.ts";
import { createBrowserTime } from "./browser-time.ts";
import { startInspections } from "./inspect/inspections.ts";
import { watchEpochs } from "./inspect/watch-epochs.ts";
import { createLoopKeys } from "./loop-keys.ts";
import type { AcceptedSessions, SessionKind } from "./observe/accepted-sessions.ts";
import { createAutoscaling } from "./observe/autoscaling.ts";
import type { EndingSavers } from "./observe/ending-savers.ts";
import type { Nodes } from "./observe/nodes.ts";
import type { Refusal } from "./observe/observed.ts";
import { isOver } from "./observe/pod-state.ts";
import type { References } from "./observe/references.ts";
import { createRefused } from "./observe/refused.ts";
import { startStages } from "./observe/start-stages.ts";
import { createStartTraces } from "./observe/start-traces.ts";
import type { ProfileSaves } from "./on-demand/step-save.ts";
import { type PodSettings, poolLabel } from "./pod/pod.ts";
import { type PodWatch, startPodWatch } from "./pod-watch.ts";
import { type PoolSource, type PoolView, type Statused, startPoolSource } from "./pool-source.ts";
import type { ReconcileDeps } from "./reconcile.ts";

export type LoopParts = {
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
  /** Undefined: nothing is traced. */
  tracer?: Tracer | undefined;
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
export type PoolLoop<T extends Statused> = {
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
  reconcile(key: string, deps: RoundDeps<T>): Promise<Requeue | undefined>;
};

/** All that a round may use. */
type RoundDeps<T> = ReconcileDeps &
  Pick<LoopParts, "agents" | "names" | "reportOf" | "saves" | "store"> & {
    source: PoolSource<T>;
    /** The objects that are over, by their namespace. */
    over: Pick<ObjectGroups<BrowserPool>, "of">;
    /** ms since the epoch. */
    now: () => number;
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
  { subscriber, nodes, gate, references, saves }: LoopParts,
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
const createMemory = ({
  metrics,
  tracer,
  podSettings,
  log,
}: Pick<LoopParts, "metrics" | "tracer" | "podSettings" | "log">) => {
  const startTraces = createStartTraces(tracer, clocks.now);
  return {
    expectations: createExpectations(),
    dying: new Set<string>(),
    leasedSince: new Map<string, number>(),
    startTraces,
    starts: createStartCount((result, pod) => {
      metrics.started(result);
      if (!pod) return;
      startTraces.ready(pod);
      for (const { stage, startMs, endMs } of startStages(pod)) metrics.lead.stageTook(stage, (endMs - startMs) / 1000);
    }),
    refusedStarts: createRefusedStarts(clocks.monotonicMs),
    resizes: createResizes({
      isOn: podSettings.template?.idleCpu !== undefined,
      monotonicMs: clocks.monotonicMs,
      count: metrics.resized,
      log,
    }),
    keySweeps: createKeySweeps(),
    autoscaling: createAutoscaling(),
  };
};

/** What is remembered of each pool. */
const poolMemories = ({ expectations, refusedStarts, keySweeps, autoscaling }: ReturnType<typeof createMemory>) => [
  expectations,
  refusedStarts,
  keySweeps,
  autoscaling,
];

type Memory = ReturnType<typeof createMemory> & { disturbedAtMs: () => number };

const podsOf = ({ pods, podsByOwner, foreignPods }: PodWatch) => ({ pods, podsByOwner, foreignPods });

/** What a loop has made for itself, and its lead. */
type OwnParts<T> = Pick<
  RoundDeps<T>,
  | "acceptedSizes"
  | "foreignPods"
  | "inspections"
  | "lead"
  | "over"
  | "pods"
  | "podsByOwner"
  | "record"
  | "refusalOf"
  | "roomOf"
  | "source"
>;

const roundDeps = <T>(given: LoopParts, memory: Memory, own: OwnParts<T>): RoundDeps<T> => ({
  // Of the process, for both loops.
  kube: given.kube,
  store: given.store,
  repairs: given.repairs,
  names: given.names,
  leavingMarks: given.leavingMarks,
  agents: given.agents,
  agentKeys: given.agentKeys,
  podSettings: given.podSettings,
  drainDeadlineMs: given.drainDeadlineMs,
  setupRequests: given.setupRequests,
  noteProfileUse: given.noteProfileUse,
  reportOf: given.reportOf,
  nodes: given.nodes,
  gate: given.gate,
  saves: given.saves,
  savers: given.savers,
  profileOf: given.references.profileOf,
  metrics: given.metrics,
  log: given.log,
  now: clocks.now,
  monotonicMs: clocks.monotonicMs,
  // Of this loop.
  ...own,
  // What it remembers.
  ...memory,
});

/**
 * What looks at each change of a pod. A pod that this replica has not deleted and that has gone is a loss of its
 * owner's.
 */
const seenBy =
  (
    browserTime: ReturnType<typeof createBrowserTime>,
    { resizes, dying }: Pick<Memory, "resizes" | "dying">,
    onLoss: (ownerUid: string) => void,
  ) =>
  (pod: Pod, change: Change): void => {
    browserTime.note(pod, change);
    resizes.look(pod);
    const { uid, labels } = pod.metadata;
    if ((change === "DELETED" || isOver(pod)) && !dying.has(uid)) onLoss(labels?.[poolLabel] ?? "");
  };

/** Runs one kind's loop while this replica leads. */
export const runPoolLoop = async <T extends Statused>(
  loop: PoolLoop<T>,
  deps: LoopParts,
  lead: Lead,
): Promise<void> => {
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
    if (change === "ADDED" && !loop.isOver(pool)) losses.look(keyOf(pool.metadata));
    const hasSpecChanged = predicate.specChanged(pool);
    if (hasSpecChanged) queue.add(keyOf(pool.metadata));
    if (!hasSpecChanged || change === "ADDED") queue.addBatched(keyOf(pool.metadata), batchMs);
  };
  const forgetPod = ({ uid, name }: { uid: string; name: string }, ownerUid: string | undefined): void => {
    if (ownerUid !== undefined) memory.keySweeps.request(ownerUid, name);
    memory.dying.delete(uid);
    memory.leasedSince.delete(uid);
    for (const part of [inspections, memory.starts, memory.startTraces, memory.resizes]) part.forget(uid);
  };

  const browserTime = createBrowserTime(deps.metrics.lead, clocks.monotonicMs);
  const source: PoolSource<T> = startPoolSource({ kube, view: loop.view, onChange: onPool, log });
  const acceptedSizes = deps.acceptedSessions.open(loop.kind, source);
  const record = createEventRecorder(kube, loop.name, log);
  const watched = startPodWatch({
    ...{ ...memory, kube, log, source, keys, record },
    add: (key) => queue.add(key),
    addBatched: (key) => queue.addBatched(key, batchMs),
    onOwned: seenBy(browserTime, memory, (ownerUid) => losses.look(keys.of(ownerUid))),
    onDeleted: forgetPod,
  });
  const { work: meter } = deps.metrics;
  const losses = startLosses({ name: `${loop.name}-losses`, log, meter, note: (key) => noteLosses(key, round) });
  const queue = startWorkQueue({
    ...{ name: loop.name, concurrency, log, meter },
    work: async (key) => {
      const watches = [deps.acceptedSessions, watched.pods, deps.nodes, deps.references, deps.savers];
      await Promise.all(watches.map((watch) => watch.synced(lead.signal)));
      await losses.noted(lead.signal);
      return loop.reconcile(key, round);
    },
  });
  const inspections = startInspections({
    ...deps,
    // The label of the queue's metrics; it keeps an older word because dashboards use it.
    name: `${loop.name}-looks`,
    meter,
    ...{ ...memory, pods: watched.pods, lead, record },
    onPool: ({ metadata }) => queue.addBatched(keyOf(metadata), batchMs),
    monotonicMs: clocks.monotonicMs,
  });
  const own = { source, over, inspections, acceptedSizes, refusalOf: refusal, roomOf, record, lead };
  const round = roundDeps(deps, memory, { ...own, ...podsOf(watched) });
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
    browserTime.stop();
    unsubscribe();
    await Promise.all([queue.stop(), losses.stop(), inspections.stop(), watching]);
    await Promise.all([source.stop(), watched.pods.stop()]);
  }
};
