/**
 * The watch of all pods that carry the labels of browsers: each change concerns the object whose own pod it is, if
 * there is one.
 */

import type { Logger } from "../../platform/base/log.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { RecordEvent } from "../../platform/kube/event-recorder.ts";
import type { Expectations } from "../../platform/kube/expectations.ts";
import { createObjectGroups, type ObjectGroups } from "../../platform/kube/object-groups.ts";
import { type Pod, refOf } from "../../platform/kube/objects.ts";
import { type Change, type Reflector, startReflector } from "../../platform/kube/reflector.ts";
import { pods as podType } from "../../platform/kube/resource-type.ts";
import { createForeignPods, type ForeignPods } from "./foreign-pods.ts";
import type { LoopKeys } from "./loop-keys.ts";
import { agentEnd } from "./observe/pod-state.ts";
import { agentName } from "./pod/agent-name.ts";
import { ownerUidOf } from "./pod/own-pod.ts";
import { browserPodSelector, poolLabel } from "./pod/pod.ts";
import { keptResources } from "./pod/pod-resources.ts";
import type { PoolSource } from "./pool-source.ts";

/** When the agent's container started (observe/start-stages.ts). */
const startOf = ({ containerStatuses = [] }: NonNullable<Pod["status"]>) => {
  const agent = containerStatuses.find(({ name }) => name === agentName);
  const startedAt = agent?.state?.running?.startedAt;
  if (!agent || startedAt === undefined) return {};
  const { name, ready, restartCount } = agent;
  // The type asks for images; nobody reads them here.
  return {
    containerStatuses: [{ name, ready, restartCount, image: "", imageID: "", state: { running: { startedAt } } }],
  };
};

/** All containers are read of a pod whose agent has ended. */
const keptContainers = (status: NonNullable<Pod["status"]>) => {
  if (!agentEnd({ status })) return startOf(status);
  const { containerStatuses } = status;
  return containerStatuses && { containerStatuses };
};

/**
 * What the operator keeps of a pod in its memory: the fields that the loop reads. The environment, volumes and
 * tolerations of a browser's pod are most of its size, and 10,000 of them were most of the operator's memory.
 */
export const keptPod = ({ metadata, spec, status }: Pod): Pod => ({
  metadata,
  ...(spec && {
    spec: {
      ...(spec.nodeName !== undefined && { nodeName: spec.nodeName }),
      containers: spec.containers.map((container) => ({
        name: container.name,
        ...(container.image !== undefined && { image: container.image }),
        ...keptResources(metadata, container),
      })),
    },
  }),
  ...(status && {
    status: {
      ...(status.phase !== undefined && { phase: status.phase }),
      ...(status.podIP !== undefined && { podIP: status.podIP }),
      ...(status.reason !== undefined && { reason: status.reason }),
      ...(status.message !== undefined && { message: status.message }),
      ...(status.conditions && { conditions: status.conditions }),
      ...keptContainers(status),
    },
  }),
});

type PodWatchOptions = {
  kube: Kube;
  source: Pick<PoolSource, "meta">;
  /** The objects of this kind. */
  keys: Pick<LoopKeys, "of">;
  expectations: Pick<Expectations, "creationObserved">;
  record: RecordEvent;
  /** Enqueues an object, for a change of one of its browsers. */
  add(key: string): void;
  /** Enqueues an object that a foreign pod imitates. */
  addBatched(key: string): void;
  /** A pod changed whose controller is an object of this kind. */
  onOwned(pod: Pod, change: Change): void;
  /** `ownerUid`: of the object whose own pod it was. */
  onDeleted(pod: { uid: string; name: string }, ownerUid: string | undefined): void;
  log: Logger;
};

export type PodWatch = {
  pods: Reflector<Pod>;
  /** The pods that carry the label of an owner, by its uid: its own ones, and such as imitate them. */
  podsByOwner: Pick<ObjectGroups<Pod>, "of" | "size">;
  foreignPods: ForeignPods;
  /** Enqueues the objects with browsers on this node. */
  onNode(name: string): void;
};

/** Starts the watch. The caller must stop `pods`. */
export const startPodWatch = (options: PodWatchOptions): PodWatch => {
  const { kube, source, keys, expectations, log } = options;
  const foreignPods = createForeignPods(options.record, log);
  const ownerKeyOf = (pod: Pod): string | undefined => {
    const key = keys.of(ownerUidOf(pod, source.meta) ?? "");
    return key !== undefined && refOf(key).namespace === pod.metadata.namespace ? key : undefined;
  };
  const podsByOwner = createObjectGroups<Pod>(({ metadata }) => metadata.labels?.[poolLabel] ?? "");
  const onPod = (pod: Pod, change: Change): void => {
    podsByOwner.note(pods.get(pod.metadata) ?? pod, change);
    if (ownerUidOf(pod, source.meta) !== undefined) options.onOwned(pod, change);
    const { name, uid, labels } = pod.metadata;
    const labelled = labels?.[poolLabel] ?? "";
    const [own, imitated] = [ownerKeyOf(pod), keys.of(labelled)];
    if (change === "DELETED") options.onDeleted({ uid, name }, own && labelled);
    if (own) {
      expectations.creationObserved(labelled, name);
      options.add(own);
    } else if (imitated && foreignPods.isNew(labelled, uid)) options.addBatched(imitated);
  };
  const labelSelector = browserPodSelector(source.meta.kind);
  const pods: Reflector<Pod> = startReflector({
    kube,
    type: podType,
    labelSelector,
    keep: keptPod,
    onChange: onPod,
    log,
  });
  return {
    pods,
    podsByOwner,
    foreignPods,
    onNode(name) {
      for (const pod of pods.list()) {
        const key = pod.spec?.nodeName === name ? ownerKeyOf(pod) : undefined;
        if (key) options.add(key);
      }
    },
  };
};
