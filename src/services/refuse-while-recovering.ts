import { AppError } from "../errors.ts";
import type { BrowserPool } from "../resources/browser-pool.ts";
import type { ServiceDeps } from "./service-deps.ts";

/** Whether Redis has lost what it knew of a pool, and not all of its agents were asked yet. */
export const isRecovering = async (
  { metadata, status }: BrowserPool,
  { store }: Pick<ServiceDeps, "store">,
): Promise<boolean> =>
  // A pool that the operator has not begun with has handed out nothing.
  status?.leaseEpoch !== undefined && store.isRecovering(metadata.uid ?? "");

/**
 * For a session that was not found in any of these pools: throws `unavailable` when it may live all the same, because its
 * pool is being recovered. Costs a read a pool, so only for a look-up in vain.
 */
export const refuseWhileRecovering = async (
  session: string,
  pools: BrowserPool[],
  deps: Pick<ServiceDeps, "store">,
): Promise<void> => {
  const mayLive = await Promise.all(
    pools.map(
      async (pool) =>
        (await isRecovering(pool, deps)) && !(await deps.store.endedLease(pool.metadata.uid ?? "", session)),
    ),
  );
  if (mayLive.includes(true))
    throw new AppError("unavailable", "the sessions of this pool are being recovered; repeat the request", {
      retryAfterSeconds: 1,
    });
};
