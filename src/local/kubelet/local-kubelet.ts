import type { Logger } from "../../platform/base/log.ts";
import { createSemaphore } from "../../platform/base/semaphore.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { keyOf, type Node, type Pod, type Ref } from "../../platform/kube/objects.ts";
import { startReflector } from "../../platform/kube/reflector.ts";
import { nodes, pods } from "../../platform/kube/resource-type.ts";
import { startWorkQueue, type WorkQueue } from "../../platform/kube/work-queue.ts";
import { createBinder } from "./binder.ts";
import { type NodeRegistration, registerNode } from "./node-registration.ts";
import { createPodAddresses } from "./pod-address.ts";
import { type PodProcessOptions, removePodLog } from "./pod-process.ts";
import { createPodReports } from "./pod-reports.ts";
import { type PodRun, startPodRun } from "./pod-run.ts";
import { readSecretValues } from "./pod-secrets.ts";
import { createPodSync } from "./pod-sync.ts";

type NodeOptions = {
  kube: Kube;
  nodeName: string;
  /** The node takes only pods of this namespace; by default all. For tests that share one API server. */
  namespace?: string;
  maxPods: number;
  /** Requests to the API at the same time; steps are short, since none waits for a process. */
  concurrentSteps: number;
  /** Starts a pod that is bound to this node and supported. It must call `onChange` after every change of its state. */
  startRun: (pod: Pod, onChange: () => void) => PodRun;
  /** Removes a pod's output; called when its object is gone. */
  removeLog: (ref: Ref) => Promise<void>;
  log: Logger;
};

type RunningNode = {
  /** Ends all pods at once; resolves when no process or folder of them is left. */
  stop(): Promise<void>;
};

/** How long the first list of pods may take, ms. */
const syncWithinMs = 30_000;

/** How long agents may take to end in order when the node is stopped, ms. */
const stopGraceMs = 10_000;

/**
 * A node and its scheduler in one: it binds every pod without a node, unless the node is cordoned or tainted, and runs
 * it. Resolves when the node is registered and the pods of its former run are reported as failed.
 */
export const startNode = async (options: NodeOptions): Promise<RunningNode> => {
  const { kube, nodeName, namespace, maxPods, concurrentSteps, startRun, removeLog, log } = options;
  let queue: WorkQueue | undefined;
  const onChange = (pod: Pod): void => queue?.add(keyOf(pod.metadata));
  const reflector = startReflector<Pod>({ kube, type: pods, ...(namespace && { namespace }), onChange, log });
  const onSelf = (): void => {
    for (const pod of reflector.list()) if (!pod.spec?.nodeName) onChange(pod);
  };
  const self = startReflector<Node>({
    kube,
    type: nodes,
    fieldSelector: `metadata.name=${nodeName}`,
    onChange: onSelf,
    log,
  });
  const stopWatching = async (): Promise<void> => void (await Promise.all([reflector.stop(), self.stop()]));
  const podSync = createPodSync({
    kube,
    nodeName,
    binder: createBinder({
      kube,
      nodeName,
      maxPods,
      listPods: reflector.list,
      node: () => self.get({ name: nodeName }),
    }),
    reports: createPodReports(kube),
    cached: reflector.get,
    startRun: (pod) => startRun(pod, () => onChange(pod)),
    removeLog,
  });
  const register = async (): Promise<NodeRegistration> => {
    const signal = AbortSignal.timeout(syncWithinMs);
    await Promise.all([reflector.synced(signal), self.synced(signal)]);
    const leftovers = reflector.list().filter((pod) => pod.spec?.nodeName === nodeName);
    await Promise.all(leftovers.map(podSync.reportLeftover));
    return registerNode({ kube, nodeName, maxPods, log });
  };
  const registration = await register().catch(async (error: unknown) => {
    await stopWatching();
    throw error;
  });
  queue = startWorkQueue({ name: "node", work: podSync.sync, concurrency: concurrentSteps, log });
  for (const pod of reflector.list()) onChange(pod);
  return {
    async stop() {
      await queue.stop();
      await podSync.endAll(stopGraceMs);
      await registration.stop();
      await stopWatching();
    },
  };
};

/** `dataDir`: absolute, locked by this run and without leftovers of a former run (`lockDataDir`, `endLeftovers`). */
type LocalKubeletOptions = PodProcessOptions & Pick<NodeOptions, "kube" | "namespace" | "log"> & { nodeName?: string };

export type LocalKubelet = RunningNode;

/** The kubelet's default. */
const maxPods = 110;

/**
 * How many pods start at the same time. The processor limits starts: measured on 2 cores with 20 headless browsers,
 * 2, 4, 6 and 20 at a time all need 8 to 10 s for the whole, but with 20 at a time the first one is ready after 5.5 s
 * instead of 1 s, and slow starts come near their deadlines.
 */
const concurrentStarts = 4;

const concurrentSteps = 16;

/** A node that runs each pod as a process of this machine. */
export const startLocalKubelet = async (options: LocalKubeletOptions): Promise<LocalKubelet> => {
  const { kube, nodeName = "local", namespace, log, dataDir } = options;
  const shared = {
    addresses: createPodAddresses(),
    starts: createSemaphore(concurrentStarts),
    readSecretValues: (pod: Pod) => readSecretValues(pod, kube),
  };
  return startNode({
    kube,
    nodeName,
    ...(namespace && { namespace }),
    maxPods,
    concurrentSteps,
    startRun: (pod, onChange) => startPodRun(pod, { ...options, ...shared, onChange }),
    removeLog: (ref) => removePodLog(dataDir, ref),
    log,
  });
};
