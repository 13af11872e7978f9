import type { Pod } from "../../platform/kube/objects.ts";
import { type NodeOptions, type RunningNode, startNode } from "./node.ts";
import { createPodAddresses } from "./pod-address.ts";
import { type PodProcessOptions, removePodLog } from "./pod-process.ts";
import { startPodRun } from "./pod-run.ts";
import { readSecretValues } from "./pod-secrets.ts";
import { createStartSlots } from "./start-slots.ts";

/** `dataDir`: absolute, locked by this run and without leftovers of a former run (`lockDataDir`, `endLeftovers`). */
type ProcessNodeOptions = PodProcessOptions & Pick<NodeOptions, "kube" | "namespace" | "log"> & { nodeName?: string };

export type ProcessNode = RunningNode;

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
export const startProcessNode = async (options: ProcessNodeOptions): Promise<ProcessNode> => {
  const { kube, nodeName = "local", namespace, log, dataDir } = options;
  const shared = {
    addresses: createPodAddresses(),
    slots: createStartSlots(concurrentStarts),
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
