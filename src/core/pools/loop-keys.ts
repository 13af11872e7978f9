import { keyOf, refOf } from "../../platform/kube/objects.ts";
import type { WorkQueue } from "../../platform/kube/work-queue.ts";
import type { PoolChange } from "../leases/pool-channels.ts";
import type { BrowserPool } from "../model/pools/browser-pool.ts";

/** The objects of a loop, found by what events say of them, and enqueued by their keys. */
export type LoopKeys = {
  set(pool: BrowserPool): void;
  delete(uid: string): void;
  /** The key of the object with this uid. */
  of(uid: string): string | undefined;
  /** Enqueues one object; nothing for an unknown uid. */
  add(uid: string | undefined): void;
  addAll(): void;
  addNamespace(name: string): void;
  /** Enqueues the object that Redis announced: an urgent change at once, others batched. */
  addChange(change: PoolChange): void;
};

/** `batchMs`: how long changes that are not urgent are collected. */
export const createLoopKeys = (queue: () => Pick<WorkQueue, "add" | "addBatched">, batchMs: number): LoopKeys => {
  const byUid = new Map<string, string>();
  return {
    set: ({ metadata }) => void byUid.set(metadata.uid, keyOf(metadata)),
    delete: (uid) => void byUid.delete(uid),
    of: (uid) => byUid.get(uid),
    add(uid = "") {
      const key = byUid.get(uid);
      if (key) queue().add(key);
    },
    addAll() {
      for (const key of byUid.values()) queue().addBatched(key, batchMs);
    },
    addNamespace(name) {
      for (const key of byUid.values()) if (refOf(key).namespace === name) queue().add(key);
    },
    addChange({ poolUid, urgent }) {
      const key = byUid.get(poolUid);
      if (key && urgent) queue().add(key);
      else if (key) queue().addBatched(key, batchMs);
    },
  };
};
