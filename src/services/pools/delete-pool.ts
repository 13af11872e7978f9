import { AppError } from "../../errors.ts";
import { browserPoolKind } from "../../resources/browser-pool.ts";
import type { Project } from "../projects/projects.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { fetchPool } from "./fetch-pool.ts";
import { isRecovering } from "./refuse-while-recovering.ts";

/** Read by the operator: a deleted pool with it ends its leases at once. */
const forceAnnotation = { "browserpool.dev/force-delete": "true" };

/**
 * Deletes a pool and its browsers. Unless forced, one that is in use stays, and throws `pool_in_use`; the same script
 * that finds no lease stops new ones, so that none slips in between.
 */
export const deletePool = async (
  { idOrName, force }: { idOrName: string; force: boolean },
  project: Project,
  deps: ServiceDeps,
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
    // The operator does the same for a pool that is drained and not deleted, should this fail too.
    await deps.store.undrain(uid).catch(() => undefined);
    throw error;
  }
};
