import { AppError } from "../../../platform/base/errors.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { LeaseStore } from "../../leases/lease-store.ts";
import { browserPoolKind } from "../../model/pools/browser-pool.ts";
import type { Project } from "../../projects/projects.ts";
import { fetchPool } from "./fetch-pool.ts";
import { isRecovering } from "./refuse-while-recovering.ts";

/** The operator reads it: when a pool with it is deleted, it ends the pool's leases at once. */
const forceAnnotation = { "browserpool.dev/force-delete": "true" };

/**
 * Deletes a pool and its browsers. Without `force`, it keeps a pool that is in use and throws `pool_in_use`. One script checks for
 * leases and stops new ones, so no lease can begin in between.
 */
export const deletePool = async (
  { idOrName, force }: { idOrName: string; force: boolean },
  project: Project,
  deps: { kube: Kube; store: LeaseStore },
): Promise<void> => {
  const pool = await fetchPool(idOrName, project, deps);
  const uid = pool.metadata.uid;
  if (!force && (await isRecovering(pool, deps)))
    throw new AppError("unavailable", "the sessions of this pool are being recovered; repeat the request", {
      retryAfterSeconds: 1,
    });
  const { leased } = await deps.store.drain(uid, { evenIfLeased: force });
  if (leased > 0 && !force)
    throw new AppError("pool_in_use", `${leased} browsers of this pool are acquired; release them or send force: true`);
  try {
    if (force) await deps.kube.patch(browserPoolKind, pool.metadata, { metadata: { annotations: forceAnnotation } });
    await deps.kube.delete(browserPoolKind, pool.metadata, { uid });
  } catch (error) {
    // If this fails too, the operator undrains the pool, since it is drained but not being deleted.
    await deps.store.undrain(uid).catch(() => undefined);
    throw error;
  }
};
