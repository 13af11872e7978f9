import { drainFinalizer } from "../../platform/kinds/kind.ts";
import { refOf } from "../../platform/kube/objects.ts";
import type { Requeue } from "../../platform/kube/work-queue.ts";
import type { OperatorMetrics } from "../metrics/operator-metrics.ts";
import { type ApplyDeps, applyPlan } from "./apply/apply.ts";
import type { StartCount } from "./apply/start-count.ts";
import type { ForeignPods } from "./foreign-pods.ts";
import { confirmCreations } from "./observe/confirm-creations.ts";
import { type ObserveDeps, observePool } from "./observe/observe.ts";
import { planPool } from "./plan/plan.ts";
import { recoveryProgress } from "./plan/recovery-progress.ts";
import type { PoolSource } from "./pool-source.ts";

export type ReconcileDeps = ObserveDeps &
  ApplyDeps & {
    source: Pick<PoolSource, "ensureFinalizer">;
    starts: Pick<StartCount, "note" | "begun" | "refused">;
    foreignPods: Pick<ForeignPods, "tell">;
    metrics: Pick<OperatorMetrics, "recovering">;
  };

/** Time to the next round while it is not known whether a pod was created, ms. */
const inDoubtMs = 1000;

/** Time to the round that tells of a start that the API server has refused, ms. */
const atOnceMs = 1;

/** One round for one pool; `key` is `namespace/name`. Safe to repeat at any point. */
export const reconcilePool = async (key: string, deps: ReconcileDeps): Promise<Requeue | undefined> => {
  const known = deps.source.get(refOf(key));
  if (!known) return undefined;
  const { deletionTimestamp, finalizers = [] } = known.metadata;
  if (deletionTimestamp && !finalizers.includes(drainFinalizer)) return undefined;
  deps.lead.check();
  await deps.source.ensureFinalizer(known);

  const inDoubt = await confirmCreations(known.metadata, deps);
  const observed = await observePool(key, deps);
  if (!observed) return undefined;
  deps.foreignPods.tell({ ...observed.pool, ...deps.source.meta }, observed.foreign);
  // All replicas use Redis' clock, so the clocks of their machines may differ.
  const plan = planPool(observed, observed.leases.nowMs);
  deps.starts.note(observed, plan);
  const progress = recoveryProgress(observed);
  deps.metrics.recovering(observed.pool.metadata.uid, progress ? progress.of - progress.asked : 0);
  const refusedBefore = deps.refusedStarts.of(observed.pool)?.count;
  await applyPlan(observed, plan, deps);
  if (deps.refusedStarts.of(observed.pool)?.count !== refusedBefore) return { requeueAfterMs: atOnceMs };
  return { requeueAfterMs: inDoubt > 0 ? Math.min(plan.requeueAfterMs, inDoubtMs) : plan.requeueAfterMs };
};
