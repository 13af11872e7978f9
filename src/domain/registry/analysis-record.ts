/** Analyses as the HTTP API shows them. */
import type { AnalysisRecord, NoRecommendation } from "../../resources/registry-wire.ts";
import { hasEnded, type SiteAnalysis, type Trial } from "../../resources/site-analysis.ts";
import { browserRecord, proxyRecipe } from "./recommendation-record.ts";

const trialRecord = ({ browser, proxy, verdict, reason, httpStatus, startedAt, durationMs }: Trial) => ({
  browser: browserRecord(browser),
  proxy: proxyRecipe(proxy),
  verdict,
  reason,
  ...(httpStatus !== undefined && { http_status: httpStatus }),
  started_at: startedAt,
  duration_ms: durationMs,
});

const statuses = { Pending: "pending", Running: "running", Succeeded: "succeeded", Failed: "failed" } as const;

/** A status of an earlier run says nothing about the one that is asked for. */
export const analysisRecord = ({ metadata, spec, status: stored }: SiteAnalysis): AnalysisRecord => {
  const status = stored?.run === spec.run ? stored : undefined;
  const { normalized, host, domain } = spec.target;
  return {
    id: metadata.name,
    target: { normalized, host, domain },
    status: statuses[status?.phase ?? "Pending"],
    run: spec.run,
    requested_at: spec.requestedAt,
    ...(status?.startedAt !== undefined && { started_at: status.startedAt }),
    ...(status?.endedAt !== undefined && { ended_at: status.endedAt }),
    ...(status?.outcome !== undefined && { outcome: status.outcome }),
    ...(status?.message !== undefined && { message: status.message }),
    trials: (status?.trials ?? []).map(trialRecord),
  };
};

/** Why an ended analysis recommends nothing; undefined where it does, or has not ended. */
export const refusalOf = (analysis: SiteAnalysis): NoRecommendation | undefined => {
  const { outcome, message = "" } = analysis.status ?? {};
  if (!hasEnded(analysis) || outcome === undefined || outcome === "recommendation") return undefined;
  return { type: "no_recommendation", code: outcome, message };
};
