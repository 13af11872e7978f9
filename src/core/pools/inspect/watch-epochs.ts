import { setTimeout as sleep } from "node:timers/promises";
import { keyOf } from "../../../platform/kube/objects.ts";
import type { RepairStore } from "../../leases/repair-store.ts";
import type { BrowserPool } from "../../model/pools/browser-pool.ts";
import type { PoolSource } from "../pool-source.ts";

/**
 * How often each pool's epoch is read, ms. A FLUSHALL breaks no connection and sends no message; only this check
 * notices it.
 */
const intervalMs = 1000;

type WatchEpochsDeps = {
  source: Pick<PoolSource, "list">;
  /** Whether a pool has nothing that Redis could lose: it is not asked about. */
  isSettled(pool: BrowserPool): boolean;
  repairs: Pick<RepairStore, "epoch">;
  /** Redis has another epoch than the pool's status. */
  onDiffers(poolKey: string): void;
  /** Redis answers again for a pool after it did not: another server may answer now. */
  onReturn(): void;
};

/** Compares the epochs of all pools, in Redis and in their status, until `signal` is aborted. Never rejects. */
export const watchEpochs = async (deps: WatchEpochsDeps, signal: AbortSignal): Promise<void> => {
  const away = new Set<string>();
  const compare = async ({ metadata, status }: BrowserPool): Promise<void> => {
    const uid = metadata.uid;
    try {
      const epoch = await deps.repairs.epoch(uid);
      if (away.delete(uid)) deps.onReturn();
      if (epoch !== status?.leaseEpoch) deps.onDiffers(keyOf(metadata));
    } catch {
      away.add(uid);
    }
  };
  while (!signal.aborted) {
    await sleep(intervalMs, undefined, { signal }).catch(() => undefined);
    // A pool that had no round yet has no epoch to lose.
    const begun = deps.source.list().filter((pool) => pool.status?.leaseEpoch !== undefined && !deps.isSettled(pool));
    if (!signal.aborted) await Promise.all(begun.map(compare));
    for (const uid of away) if (!begun.some(({ metadata }) => metadata.uid === uid)) away.delete(uid);
  }
};
