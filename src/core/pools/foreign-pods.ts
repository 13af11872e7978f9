/**
 * Tells the owner of a pool about pods that carry the pool's label and are not the pool's own (pod/own-pod.ts). The
 * operator leaves such pods alone: they never count, and it neither asks nor deletes them.
 */

import type { Logger } from "../../platform/base/log.ts";
import type { RecordEvent } from "../../platform/kube/event-recorder.ts";
import { keyOf, type Pod } from "../../platform/kube/objects.ts";
import { whyForeign } from "./pod/own-pod.ts";
import { type PodOwner, poolLabel } from "./pod/pod.ts";

/**
 * The most pods that are told about one by one, for each pool and each lead: a pod costs nothing, an Event is a write.
 */
const mostTold = 50;

export type ForeignPods = {
  /** Whether an Event about this pod may still be due. */
  isNew(poolUid: string, podUid: string): boolean;
  /**
   * Records one Warning for each pod that was not told about yet. `foreign`: pods with the pool's label that are not
   * its own.
   */
  tell(pool: PodOwner, foreign: Pod[]): void;
  /** The pool is gone. */
  forget(poolUid: string): void;
};

/** Keeps what was told in memory: a new leader tells once more, as the same Event. */
export const createForeignPods = (record: RecordEvent, log: Logger): ForeignPods => {
  const told = new Map<string, Set<string>>();
  const isNew = (poolUid: string, podUid: string): boolean => {
    const known = told.get(poolUid);
    return !known || (known.size < mostTold && !known.has(podUid));
  };
  const tellOne = (pool: PodOwner, pod: Pod): void => {
    const known = told.get(pool.metadata.uid) ?? new Set();
    told.set(pool.metadata.uid, known.add(pod.metadata.uid));
    const why = whyForeign(pod, pool);
    const last = known.size === mostTold ? `; further pods like this are not told about` : "";
    const note = `pod ${keyOf(pod.metadata)} has the label ${poolLabel} of this object, but is left alone: ${why}. Delete it, or remove its label${last}`;
    log.warn({ pool: keyOf(pool.metadata), pod: keyOf(pod.metadata), why }, "a foreign pod imitates a browser");
    record({ regarding: pool, type: "Warning", reason: "ForeignPod", note });
  };
  return {
    isNew,
    tell(pool, foreign) {
      for (const pod of foreign) if (isNew(pool.metadata.uid, pod.metadata.uid)) tellOne(pool, pod);
    },
    forget: (poolUid) => void told.delete(poolUid),
  };
};
