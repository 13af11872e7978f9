/**
 * The pool loop of an operator without its queue: its watches and its memory are real, and its rounds come when the
 * test has them, with parts of which one may fail.
 */

import type { AgentClient } from "../../src/core/leases/agent/agent-client.ts";
import type { LeaseStore } from "../../src/core/leases/lease-store.ts";
import { createLeavingMarks, type LeavingMarks } from "../../src/core/leases/leaving-marks.ts";
import type { RepairStore } from "../../src/core/leases/repair-store.ts";
import type { BrowserPool } from "../../src/core/model/pools/browser-pool.ts";
import { createKeySweeps } from "../../src/core/pools/apply/agent-key-secrets.ts";
import { createRefusedStarts } from "../../src/core/pools/apply/refused-starts.ts";
import { createResizes } from "../../src/core/pools/apply/resizes.ts";
import { createStartCount } from "../../src/core/pools/apply/start-count.ts";
import { startInspections } from "../../src/core/pools/inspect/inspections.ts";
import { createLoopKeys } from "../../src/core/pools/loop-keys.ts";
import { createAutoscaling } from "../../src/core/pools/observe/autoscaling.ts";
import { type Nodes, startNodes } from "../../src/core/pools/observe/nodes.ts";
import { createStartTraces } from "../../src/core/pools/observe/start-traces.ts";
import { configHashAnnotation, poolLabel } from "../../src/core/pools/pod/pod.ts";
import { startPodWatch } from "../../src/core/pools/pod-watch.ts";
import { type PoolView, type Statused, startPoolSource } from "../../src/core/pools/pool-source.ts";
import type { ReconcileDeps } from "../../src/core/pools/reconcile.ts";
import { openGate } from "../../src/core/reconcile/start-gate.ts";
import { createSessionNames, type SessionNames } from "../../src/core/reservations/session-names.ts";
import { createSetupRequests, type SetupRequests } from "../../src/core/setups/setup-requests.ts";
import { connectKube, type Kube } from "../../src/platform/kube/client.ts";
import type { EventNote } from "../../src/platform/kube/event-recorder.ts";
import { createExpectations } from "../../src/platform/kube/expectations.ts";
import { createObjectGroups } from "../../src/platform/kube/object-groups.ts";
import { type KubeObject, keyOf, type Pod } from "../../src/platform/kube/objects.ts";
import { pods as podType, type ResourceType, secrets } from "../../src/platform/kube/resource-type.ts";
import type { Requeue } from "../../src/platform/kube/work-queue.ts";
import { sharedServers, testNamespace } from "../support/control-plane.ts";
import { agentKeys, type LeaseParts, silent, startLeaseParts } from "../support/lease-parts.ts";
import { isAsNew, shown, type Watched, watchObjects } from "./rounds.ts";

/** What a round of the loop calls outside. */
export type PoolParts = {
  kube: Kube;
  store: LeaseStore;
  repairs: RepairStore;
  leavingMarks: LeavingMarks;
  names: SessionNames;
  setupRequests: SetupRequests;
  agents: AgentClient;
};

/** What a round gets. */
type RoundDeps<T> = ReconcileDeps &
  PoolParts & {
    source: ReturnType<typeof startPoolSource<never>> & { objectOf(pool: BrowserPool): T };
    over: { of(namespace: string): BrowserPool[] };
    now: () => number;
  };

/** One operator, while it leads. */
type PoolReplica = {
  round(key: string, parts?: PoolParts): Promise<Requeue | undefined>;
  /** Creations of the pool's pods that it still waits for. */
  pending(poolUid: string): number;
  /** Time passes, as the replica measures it. */
  pass(ms: number): void;
  /** Resolves when its watches show all that there is of the object. */
  shows(ref: { name: string; namespace: string; uid: string }): Promise<void>;
  stop(): Promise<void>;
};

export type PoolSetting<T> = {
  kube: Kube;
  namespace: string;
  projectId: string;
  lease: LeaseParts;
  parts: PoolParts;
  pods: Watched<Pod>;
  objects: Watched<T & Statused>;
  /** The Events that all operators told, as `reason: note`. */
  told: string[];
  /** The operator that leads now. */
  replica(): PoolReplica;
  /** It dies, and another one leads. */
  replace(): Promise<void>;
  /** A text that changes with all that makes the object's key come back; resolves when the watches show it. */
  version(object: { metadata: { name: string; namespace: string; uid: string } }): Promise<string>;
  [Symbol.asyncDispose](): Promise<void>;
};

const createMemory = (nowMs: () => number) => ({
  expectations: createExpectations(nowMs),
  dying: new Set<string>(),
  leasedSince: new Map<string, number>(),
  starts: createStartCount(() => undefined),
  keySweeps: createKeySweeps(),
  autoscaling: createAutoscaling(),
  acceptedSizes: new Map<string, number>(),
  refusedStarts: createRefusedStarts(nowMs),
  resizes: createResizes({ isOn: false, monotonicMs: nowMs, count: () => undefined, log: silent }),
});

type Loop<T extends Statused> = {
  view: PoolView<T>;
  reconcile(key: string, deps: RoundDeps<T>): Promise<Requeue | undefined>;
};

const lead = { signal: new AbortController().signal, check: () => undefined };
const meter = { worked: () => undefined, waiting: () => undefined };
const metrics = { recovering: () => undefined };
const podSettings = { image: "registry.invalid/browser", template: undefined, agentPublicKey: "" };

const startReplica = async <T extends Statused>(
  { view, reconcile }: Loop<T>,
  whole: PoolParts,
  { nodes, told }: { nodes: Nodes; told: string[] },
): Promise<PoolReplica> => {
  const now = { ...whole };
  // The watches write, too, by the client that the round has.
  const kube = new Proxy(whole.kube, { get: (_, method) => Reflect.get(now.kube, method) });
  let aheadMs = 0;
  const monotonicMs = (): number => performance.now() + aheadMs;
  const memory = createMemory(monotonicMs);
  const disturbedAt = monotonicMs();
  const record = ({ reason, note }: EventNote): void => void told.push(`${reason}: ${note}`);
  const keys = createLoopKeys(() => ({ add: () => undefined, addBatched: () => undefined }), 0);
  const over = createObjectGroups<BrowserPool>((pool) => (pool.spec.size === 0 ? pool.metadata.namespace : ""));
  const forgetPool = (uid: string): void => {
    keys.delete(uid);
    memory.acceptedSizes.delete(uid);
    for (const part of [memory.expectations, memory.keySweeps, memory.autoscaling, memory.refusedStarts])
      part.forget(uid);
  };
  const source = startPoolSource({
    kube,
    view,
    log: silent,
    onChange(pool, change) {
      over.note(pool, change);
      if (change === "DELETED") forgetPool(pool.metadata.uid);
      else keys.set(pool);
    },
  });
  const watched = startPodWatch({
    ...{ kube, source, keys, expectations: memory.expectations, record, log: silent },
    add: () => undefined,
    addBatched: () => undefined,
    onOwned: () => undefined,
    onDeleted({ uid, name }, ownerUid) {
      if (ownerUid !== undefined) memory.keySweeps.request(ownerUid, name);
      memory.dying.delete(uid);
      memory.leasedSince.delete(uid);
      inspections.forget(uid);
      memory.starts.forget(uid);
    },
  });
  const { dying } = memory;
  const inspections = startInspections({
    startTraces: createStartTraces(undefined, Date.now),
    ...{ ...whole, pods: watched.pods, dying, lead, record, monotonicMs, meter, log: silent },
    onPool: () => undefined,
    name: "inspections",
  });
  await Promise.all([source.synced(), watched.pods.synced()]);
  const deps = {
    ...{ ...memory, ...watched, source, inspections, lead, record, nodes, over, podSettings, metrics, log: silent },
    ...{ monotonicMs, now: Date.now, agentKeys, gate: openGate, drainDeadlineMs: 60_000 },
    disturbedAtMs: () => disturbedAt,
    refusalOf: () => undefined,
    roomOf: () => ({ size: 100, limit: "PooledSessionsLimit" as const }),
    profileOf: () => undefined,
    savers: { has: async () => false },
  };
  return {
    async round(key, parts = whole) {
      Object.assign(now, parts);
      try {
        return await reconcile(key, { ...deps, ...parts, kube } as unknown as RoundDeps<T>);
      } finally {
        Object.assign(now, whole);
      }
    },
    pending: memory.expectations.pending,
    pass(ms) {
      aheadMs += ms;
    },
    async shows(ref) {
      const [object, there] = await Promise.all([
        whole.kube.get(view.type, ref),
        whole.kube.list(podType, { namespace: ref.namespace, labelSelector: `${poolLabel}=${ref.uid}` }),
      ]);
      await shown(() => isAsNew(source.get(ref), object));
      await shown(
        () =>
          watched.podsByOwner.of(ref.uid).length === there.items.length &&
          there.items.every((pod) => isAsNew(watched.pods.get(pod.metadata), pod)),
      );
    },
    async stop() {
      await inspections.stop();
      await Promise.all([source.stop(), watched.pods.stop()]);
    },
  };
};

/** Starts an operator for objects of a kind, in a new project on the shared servers. */
export const startPoolSetting = async <T extends Statused>(loop: Loop<T>): Promise<PoolSetting<T>> => {
  const kube = connectKube({ kubeconfigPath: (await sharedServers()).kubeconfigPath });
  const { name: namespace, projectId } = await testNamespace(kube);
  const lease = await startLeaseParts();
  const { redis, store, repairs, agents } = lease;
  const parts: PoolParts = {
    ...{ kube, store, repairs, agents },
    leavingMarks: createLeavingMarks(redis),
    names: createSessionNames(redis, store),
    setupRequests: createSetupRequests(redis),
  };
  const pods = watchObjects(kube, podType, namespace);
  const objects = watchObjects(kube, loop.view.type, namespace);
  const nodes = startNodes({ kube, log: silent });
  const told: string[] = [];
  let replica = await startReplica(loop, parts, { nodes, told });
  return {
    ...{ kube, namespace, projectId, lease, parts, pods, objects, told },
    replica: () => replica,
    async replace() {
      await replica.stop();
      replica = await startReplica(loop, parts, { nodes, told });
    },
    async version({ metadata }) {
      const object = await objects.version(metadata);
      await replica.shows(metadata);
      const { nowMs: _, ...leases } = await store.snapshot(metadata.uid);
      const own = pods.list().filter((pod) => pod.metadata.labels?.[poolLabel] === metadata.uid);
      return JSON.stringify([object, leases, own.map((pod) => [pod.metadata.uid, pod.metadata.resourceVersion])]);
    },
    async [Symbol.asyncDispose]() {
      await replica.stop();
      await Promise.all([pods.stop(), objects.stop(), nodes.stop()]);
      await lease[Symbol.asyncDispose]();
      await removeAll(loop.view.type, namespace, kube);
      await kube.close();
    },
  };
};

/**
 * Without a namespace controller they would stay, and their browsers would count against the organization's limits in
 * other tests.
 */
const removeAll = async <T extends KubeObject>(type: ResourceType<T>, namespace: string, kube: Kube): Promise<void> => {
  const { items } = await kube.list(type, { namespace });
  for (const { metadata } of items) {
    await kube.patch(type, metadata, { metadata: { finalizers: null } });
    await kube.delete(type, metadata);
  }
};

/** The pods of an object, and the pods for which it has Secrets with agents' keys. */
export const podsAndKeys = async (
  { kube, namespace }: Pick<PoolSetting<unknown>, "kube" | "namespace">,
  uid: string,
): Promise<{ pods: string[]; keys: string[] }> => {
  const own = { namespace, labelSelector: `${poolLabel}=${uid}` };
  const [pods, kept] = await Promise.all([kube.list(podType, own), kube.list(secrets, own)]);
  return {
    pods: pods.items.map(({ metadata }) => metadata.name).sort(),
    keys: kept.items.map(({ metadata }) => metadata.name.replace(/-agent-key$/, "")).sort(),
  };
};

/** The pod's browser is ready, as its kubelet tells. */
export const becomeReady = (kube: Kube, { metadata }: Pod): Promise<Pod> =>
  kube.patch(
    podType,
    metadata,
    {
      status: {
        phase: "Running",
        podIP: "127.0.0.9",
        conditions: [{ type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" }],
      },
    },
    { subresource: "status" },
  );

/** The browser of a pod gets an idle record, as by an inspection; `address`: of its agent. */
export const registerIdle = async (
  { parts: { repairs, store } }: Pick<PoolSetting<unknown>, "parts">,
  { metadata }: Pod,
  address: string,
): Promise<void> => {
  const poolUid = metadata.labels?.[poolLabel] ?? "";
  const { epoch } = await store.snapshot(poolUid);
  const examined = await repairs.examine(poolUid, metadata.uid);
  const config = metadata.annotations?.[configHashAnnotation] ?? "";
  const record = { id: metadata.uid, pod: metadata.name, address, config, seq: 0, state: "idle" as const };
  if (!(await repairs.repair(poolUid, { ...examined, epoch }, { record, former: "kept" })))
    throw new Error(`no record for ${keyOf(metadata)}`);
};
