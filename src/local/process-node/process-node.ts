import type { Kube } from "../../kube/client.ts";
import { keyOf, type Pod } from "../../kube/objects.ts";
import { startReflector } from "../../kube/reflector.ts";
import { pods } from "../../kube/resource-type.ts";
import { startWorkQueue, type WorkQueue } from "../../kube/work-queue.ts";
import type { Logger } from "../../log.ts";
import { createBinder } from "./binder.ts";
import { type NodeRegistration, registerNode } from "./node-registration.ts";
import { createPodAddresses } from "./pod-address.ts";
import { type PodProcessOptions, removePodLog } from "./pod-process.ts";
import { createPodReports } from "./pod-reports.ts";
import { startPodRun } from "./pod-run.ts";
import { createPodSync } from "./pod-sync.ts";
import { createStartSlots } from "./start-slots.ts";

/** `dataDir`: absolute, locked by this run and rid of a former run's leftovers (`lockDataDir`, `endLeftovers`). */
export type ProcessNodeOptions = PodProcessOptions & {
  kube: Kube;
  nodeName?: string;
  /** Only pods of this namespace are taken; left out, all are. For tests that share one API server. */
  namespace?: string;
  log: Logger;
};

export type ProcessNode = {
  /** Ends all pods at once; resolves when no process is left. */
  stop(): Promise<void>;
};

/** A kubelet's default. */
const maxPods = 110;

/**
 * How many pods start at the same time. A start is bound by the processor: measured on 2 cores with 20 headless browsers,
 * 2, 4, 6 and 20 at a time all need 8 to 10 s for the whole, but with 20 at a time the first one is ready after 5.5 s
 * instead of 1 s, and slow starts come near their deadlines.
 */
const concurrentStarts = 4;

/** Requests to the API at the same time; steps are short, since none waits for a process. */
const concurrentSteps = 16;

/** How long the first list of pods may take, ms. */
const syncWithinMs = 30_000;

/** How long agents may take to end in order when the node is stopped, ms. */
const stopGraceMs = 10_000;

/**
 * A node and its scheduler in one: binds every pod that has no node and runs it as a process of this machine. Resolves
 * when the node is registered and what a former run of it left is reported as failed.
 */
export const startProcessNode = async (options: ProcessNodeOptions): Promise<ProcessNode> => {
  const { kube, nodeName = "local", namespace, log, dataDir } = options;
  const addresses = createPodAddresses();
  const slots = createStartSlots(concurrentStarts);
  let queue: WorkQueue | undefined;
  const onChange = (pod: Pod): void => queue?.add(keyOf(pod.metadata));
  const reflector = startReflector<Pod>({ kube, type: pods, ...(namespace && { namespace }), onChange, log });
  const podSync = createPodSync({
    kube,
    nodeName,
    binder: createBinder({ kube, nodeName, maxPods, listPods: reflector.list }),
    reports: createPodReports(kube),
    cached: reflector.get,
    startRun: (pod) => startPodRun(pod, { ...options, addresses, slots, onChange: () => onChange(pod) }),
    removeLog: (ref) => removePodLog(dataDir, ref),
  });
  const register = async (): Promise<NodeRegistration> => {
    await reflector.synced(AbortSignal.timeout(syncWithinMs));
    const leftovers = reflector.list().filter((pod) => pod.spec?.nodeName === nodeName);
    await Promise.all(leftovers.map(podSync.settleLeftover));
    return registerNode({ kube, nodeName, maxPods, log });
  };
  const registration = await register().catch(async (error: unknown) => {
    await reflector.stop();
    throw error;
  });
  queue = startWorkQueue({ name: "process-node", work: podSync.sync, concurrency: concurrentSteps, log });
  for (const pod of reflector.list()) onChange(pod);
  return {
    async stop() {
      await queue.stop();
      await podSync.endAll(stopGraceMs);
      await registration.stop();
      await reflector.stop();
    },
  };
};
