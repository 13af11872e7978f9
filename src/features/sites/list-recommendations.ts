/** What is recommended for the targets that were analyzed: `config_registry.list` of the public clients. */

import type { Config } from "../../core/config/config.ts";
import type { Reflector } from "../../platform/kube/reflector.ts";
import type { ProxyProvider } from "../proxies/rules/proxy-provider.ts";
import { listAnalyses } from "./analyses/fetch-analysis.ts";
import type { SiteAnalysis } from "./analyses/site-analysis.ts";
import { lookupTarget } from "./lookup-site.ts";
import type { SiteIndex } from "./site-index.ts";
import { configurationName, type RecommendationSummary, type summarySorts } from "./site-wire.ts";

type Deps = { analyses: Reflector<SiteAnalysis>; config: Config; proxyProvider: ProxyProvider; sites: SiteIndex };

type SummaryQuery = {
  query?: string | undefined;
  sortBy: (typeof summarySorts)[number];
  order: "asc" | "desc";
};

const sortKeys: Record<SummaryQuery["sortBy"], (summary: RecommendationSummary) => string | number> = {
  target: ({ target }) => target,
  analysis_status: ({ analysis_status: status }) => status,
  recommended_config: ({ recommended_config_label: label }) => label ?? "",
  last_requested_at: ({ last_requested_at: at }) => at,
  success_rate: ({ success_rate: rate }) => rate ?? -1,
};

/** The analyzed targets whose URL has `query` in it, in any case. Targets that sort alike are in the order of their URLs. */
export const listRecommendations = ({ query, sortBy, order }: SummaryQuery, deps: Deps): RecommendationSummary[] => {
  const key = sortKeys[sortBy];
  const sign = order === "asc" ? 1 : -1;
  const compare = (a: RecommendationSummary, b: RecommendationSummary): number => {
    const [x, y] = [key(a), key(b)];
    if (x === y) return a.target < b.target ? -1 : 1;
    return x < y ? -sign : sign;
  };
  return listAnalyses({ query }, deps)
    .map(({ analysis, target }): RecommendationSummary => {
      const { recommendation } = lookupTarget({ target, countries: deps.config.registry.proxyCountries }, deps);
      const found = recommendation?.type === "recommendation" ? recommendation : null;
      return {
        target: target.normalized,
        analysis_id: analysis.id,
        analysis_status: analysis.status,
        last_requested_at: analysis.created_at,
        recommendation: found,
        recommended_config_label: found && configurationName(found),
        success_rate: found?.evidence.success_rate ?? null,
      };
    })
    .sort(compare);
};
