/** Watches the browser pods of a running local mode, so that a test can check later which pods ran when. */
import { poolLabel } from "../../src/core/pools/pod/pod.ts";
import { createLogger } from "../../src/platform/base/log.ts";
import type { Kube } from "../../src/platform/kube/client.ts";
import type { Pod } from "../../src/platform/kube/objects.ts";
import { startReflector } from "../../src/platform/kube/reflector.ts";
import { pods as podType } from "../../src/platform/kube/resource-type.ts";

export type PodWatch = {
  /** The pods of a pool that exist and have not ended. */
  live(poolUid: string): Pod[];
  /** The largest number of pods of a pool that existed at once and had not ended. */
  most(poolUid: string): number;
  /**
   * The creation time of each pod of a pool, also of deleted ones, in seconds since the epoch by the API server's
   * clock.
   */
  creations(poolUid: string): number[];
  stop(): Promise<void>;
};

const hasEnded = ({ status }: Pod): boolean => status?.phase === "Succeeded" || status?.phase === "Failed";

/** Resolves when the watch is open. */
export const watchPods = async (kube: Kube): Promise<PodWatch> => {
  const createdAt = new Map<string, Map<string, number>>();
  const most = new Map<string, number>();
  const note = ({ metadata }: Pod): void => {
    const poolUid = metadata.labels?.[poolLabel] ?? "";
    const created = createdAt.get(poolUid) ?? new Map<string, number>();
    createdAt.set(poolUid, created);
    created.set(metadata.uid ?? "", Date.parse(metadata.creationTimestamp ?? "") / 1000);
    most.set(poolUid, Math.max(most.get(poolUid) ?? 0, live(poolUid).length));
  };
  const reflector = startReflector<Pod>({
    kube,
    type: podType,
    labelSelector: poolLabel,
    onChange: note,
    log: createLogger("warn", "test"),
  });
  const live = (poolUid: string): Pod[] =>
    reflector.list().filter((pod) => pod.metadata.labels?.[poolLabel] === poolUid && !hasEnded(pod));
  await reflector.synced();
  return {
    live,
    most: (poolUid) => most.get(poolUid) ?? 0,
    creations: (poolUid) => [...(createdAt.get(poolUid)?.values() ?? [])].sort((a, b) => a - b),
    stop: reflector.stop,
  };
};
