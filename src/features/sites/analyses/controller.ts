/** Serves analyses while this replica leads: as many at once as there are browsers set aside, one browser each. */

import { createSpecPredicate } from "../../../core/reconcile/predicates.ts";
import type { Logger } from "../../../platform/base/log.ts";
import { whenLeadEnds } from "../../../platform/kube/leader-election.ts";
import { startReflector } from "../../../platform/kube/reflector.ts";
import { startWorkQueue, type WorkMeter } from "../../../platform/kube/work-queue.ts";
import { type LifeDeps, serveAnalysis } from "./life.ts";
import { siteAnalysisKind } from "./site-analysis.ts";

/** `atOnce`: how many analyses are worked off at a time. */
type SiteAnalysisDeps = LifeDeps & { atOnce: number; meter?: WorkMeter | undefined; log: Logger };

/** Resolves when this replica no longer leads, and the trials, the queue and the watch have stopped. */
export const runSiteAnalysisController = async (deps: SiteAnalysisDeps): Promise<void> => {
  const { kube, atOnce, lead, meter, log } = deps;
  const predicate = createSpecPredicate();
  const queue = startWorkQueue({
    name: "site-analyses",
    concurrency: atOnce,
    log,
    meter,
    work: (name, signal) => serveAnalysis(name, deps, AbortSignal.any([signal, lead.signal])),
  });
  const analyses = startReflector({
    kube,
    type: siteAnalysisKind,
    log,
    // The rounds read the object itself: the copy needs to know only that there is one.
    keep: ({ status: _, ...rest }) => rest,
    onChange(analysis, change) {
      if (change === "DELETED") predicate.forget(analysis);
      else if (predicate.specChanged(analysis)) queue.add(analysis.metadata.name);
    },
  });
  await whenLeadEnds(lead);
  await analyses.stop();
  await queue.stop();
};
