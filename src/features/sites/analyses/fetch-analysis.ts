import type { Config } from "../../../core/config/config.ts";
import { AppError } from "../../../platform/base/errors.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { Reflector } from "../../../platform/kube/reflector.ts";
import type { ProxyProvider } from "../../proxies/rules/proxy-provider.ts";
import { lookupTarget } from "../lookup-site.ts";
import { analysisState, refusalOf } from "../rules/analysis-answer.ts";
import type { Target } from "../rules/target.ts";
import type { SiteIndex } from "../site-index.ts";
import type { AnalysisAnswer, AnalysisState, AnalysisSummary } from "../site-wire.ts";
import { type SiteAnalysis, siteAnalysisKind } from "./site-analysis.ts";

/** An analysis, and what is known of its target now. */
export const analysisAnswer = (
  analysis: SiteAnalysis,
  asked: { target: Target; countries: readonly string[] | undefined },
  deps: { config: Config; proxyProvider: ProxyProvider; sites: SiteIndex },
): AnalysisAnswer => {
  const known = lookupTarget(asked, deps);
  return {
    ...known,
    analysis: analysisState(analysis, Date.now()),
    recommendation: known.recommendation ?? refusalOf(analysis) ?? null,
  };
};

export type AnswerDeps = { config: Config; kube: Kube; proxyProvider: ProxyProvider; sites: SiteIndex };

/** Throws `not_found`; an ended one is deleted after a day. */
export const fetchKnown = async (id: string, { kube }: AnswerDeps): Promise<SiteAnalysis> => {
  const analysis = /^[a-z0-9]+$/.test(id) ? await kube.get(siteAnalysisKind, { name: id }) : undefined;
  if (!analysis) throw new AppError("not_found", `no analysis with id ${id}; an ended one is kept for a day`);
  return analysis;
};

/** An analysis with what is known of its target, by the countries that it was asked for. */
export const analysisAnswerOf = (analysis: SiteAnalysis, deps: AnswerDeps): AnalysisAnswer => {
  const { target, allowedProxyCountries } = analysis.spec;
  return analysisAnswer(analysis, { target, countries: allowedProxyCountries }, deps);
};

/** Fetches an analysis with what is known of its target. Throws `not_found`. */
export const fetchAnalysis = async (id: string, deps: AnswerDeps): Promise<AnalysisAnswer> =>
  analysisAnswerOf(await fetchKnown(id, deps), deps);

type AnalysisQuery = { query?: string | undefined; status?: AnalysisState["status"] | undefined };

/** The analyses that match, the last asked for first. */
export const listAnalyses = (
  { query, status }: AnalysisQuery,
  { analyses }: { analyses: Reflector<SiteAnalysis> },
): AnalysisSummary[] => {
  const part = query?.toLowerCase() ?? "";
  const now = Date.now();
  return analyses
    .list()
    .map((analysis) => ({ analysis: analysisState(analysis, now), target: { ...analysis.spec.target } }))
    .filter(
      ({ analysis, target }) =>
        (status === undefined || analysis.status === status) &&
        (analysis.id === query || target.normalized.toLowerCase().includes(part)),
    )
    .sort((a, b) => b.analysis.created_at.localeCompare(a.analysis.created_at));
};
