/** Analyses as the HTTP API shows them. */

import {
  analysisRunMs,
  hasEnded,
  type SiteAnalysis,
  type SiteAnalysisStatus,
  type Trial,
} from "../analyses/site-analysis.ts";
import type { AnalysisState, NoRecommendation } from "../site-wire.ts";
import { browserRecord, proxyRecipe } from "./recommendation-answer.ts";

const trialAnswer = ({ browser, proxy, verdict, reason, httpStatus, startedAt, durationMs }: Trial) => ({
  browser: browserRecord(browser),
  proxy: proxyRecipe(proxy),
  verdict,
  reason,
  ...(httpStatus !== undefined && { http_status: httpStatus }),
  started_at: startedAt,
  duration_ms: durationMs,
});

const statuses = {
  Pending: "running",
  Running: "running",
  Succeeded: "completed",
  Failed: "failed",
  Canceled: "canceled",
} as const;

const failureOf = ({ phase, message }: Pick<SiteAnalysisStatus, "phase" | "message">) => {
  if (phase !== "Failed" && phase !== "Canceled") return undefined;
  return { failure: { code: `analysis_${statuses[phase]}`, message: message ?? "it could not be carried out" } };
};

/** `now`: ms since 1970. A status of an earlier run says nothing about the run that is asked for. */
export const analysisState = ({ metadata, spec, status: stored }: SiteAnalysis, now: number): AnalysisState => {
  const status = stored?.run === spec.run ? stored : undefined;
  const { phase = "Pending", startedAt, endedAt, outcome, message } = status ?? {};
  const begins = startedAt ?? endedAt;
  const endsMs = (begins === undefined ? now : Date.parse(begins)) + analysisRunMs;
  return {
    id: metadata.name,
    status: statuses[phase],
    run: spec.run,
    created_at: spec.requestedAt,
    ...(startedAt !== undefined && { started_at: startedAt }),
    finished_at: endedAt ?? null,
    expires_at: new Date(endsMs).toISOString(),
    intent: null,
    ...failureOf({ phase, message }),
    ...(outcome !== undefined && { outcome }),
    ...(message !== undefined && { message }),
    trials: (status?.trials ?? []).map(trialAnswer),
  };
};

/** Why an ended analysis recommends nothing; undefined where it does, or has not ended. */
export const refusalOf = (analysis: SiteAnalysis): NoRecommendation | undefined => {
  const { outcome, message = "" } = analysis.status ?? {};
  if (!hasEnded(analysis) || outcome === undefined || outcome === "recommendation") return undefined;
  return { type: "no_recommendation", code: outcome, message };
};
