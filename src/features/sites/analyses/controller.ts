/** Serves analyses while this replica leads: as many at once as there are browsers set aside, one browser each. */

import { createSpecPredicate } from "../../../core/reconcile/predicates.ts";
import type { Logger } from "../../../platform/base/log.ts";
import { whenLeadEnds } from "../../../platform/kube/leader-election.ts";
import { startReflector } from "../../../platform/kube/reflector.ts";
import { startWorkQueue, type Work, type WorkMeter } from "../../../platform/kube/work-queue.ts";
import { type LifeDeps, serveAnalysis } from "./life.ts";
import { isCanceled, siteAnalysisKind } from "./site-analysis.ts";

/** `atOnce`: how many analyses are worked off at a time. */
type SiteAnalysisDeps = LifeDeps & { atOnce: number; meter?: WorkMeter | undefined; log: Logger };

/** Resolves when this replica no longer leads, and the trials, the queue and the watch have stopped. */
export const runSiteAnalysisController = async (deps: SiteAnalysisDeps): Promise<void> => {
  const { kube, atOnce, lead, meter, log } = deps;
  const predicate = createSpecPredicate();
  /** Those whose run is to end: that waits for no browser. */
  const canceled = new Set<string>();
  /** By the name of the analysis whose round runs: cuts it short. */
  const rounds = new Map<string, AbortController>();
  const serve: Work = async (name, signal) => {
    const round = new AbortController();
    rounds.set(name, round);
    try {
      return await serveAnalysis(name, deps, AbortSignal.any([signal, lead.signal, round.signal]));
    } catch (error) {
      if (round.signal.aborted) return { requeueAfterMs: 0 };
      throw error;
    } finally {
      rounds.delete(name);
    }
  };
  const lanes = {
    limits: { trials: atOnce, ends: 1 },
    of: (name: string) => (canceled.has(name) ? ("ends" as const) : ("trials" as const)),
  };
  const queue = startWorkQueue({ name: "site-analyses", concurrency: lanes, log, meter, work: serve });
  const analyses = startReflector({
    kube,
    type: siteAnalysisKind,
    log,
    // The rounds read the object itself: the copy needs to know only that there is one.
    keep: ({ status: _, ...rest }) => rest,
    onChange(analysis, change) {
      const { name } = analysis.metadata;
      const isToEnd = change !== "DELETED" && isCanceled(analysis);
      if (isToEnd) canceled.add(name);
      else canceled.delete(name);
      if (change === "DELETED") predicate.forget(analysis);
      else if (predicate.specChanged(analysis)) {
        if (isToEnd) rounds.get(name)?.abort();
        queue.add(name);
      }
    },
  });
  await whenLeadEnds(lead);
  await analyses.stop();
  await queue.stop();
};
