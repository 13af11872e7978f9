import { analysisRecord } from "../../domain/registry/analysis-record.ts";
import { AppError } from "../../errors.ts";
import type { AnalysisRecord } from "../../resources/registry-wire.ts";
import { siteAnalysisKind } from "../../resources/site-analysis.ts";
import type { ServiceDeps } from "../service-deps.ts";

/** Fetches an analysis. Throws `not_found`; an ended one is deleted after a day. */
export const fetchAnalysis = async (id: string, { kube }: Pick<ServiceDeps, "kube">): Promise<AnalysisRecord> => {
  const analysis = /^[a-z0-9]+$/.test(id) ? await kube.get(siteAnalysisKind, { name: id }) : undefined;
  if (!analysis) throw new AppError("not_found", `no analysis with id ${id}; an ended one is kept for a day`);
  return analysisRecord(analysis);
};

type AnalysisQuery = { query?: string | undefined; status?: AnalysisRecord["status"] | undefined };

/** The analyses that match, the one that was asked for last first. */
export const listAnalyses = (
  { query, status }: AnalysisQuery,
  { analyses }: Pick<ServiceDeps, "analyses">,
): AnalysisRecord[] => {
  const part = query?.toLowerCase() ?? "";
  return analyses
    .list()
    .map(analysisRecord)
    .filter(
      (each) =>
        (status === undefined || each.status === status) &&
        (each.id === query || each.target.normalized.toLowerCase().includes(part)),
    )
    .sort((a, b) => b.requested_at.localeCompare(a.requested_at));
};
