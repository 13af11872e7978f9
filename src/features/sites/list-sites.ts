import { setImmediate as nextTurn } from "node:timers/promises";
import type { Config } from "../../core/config/config.ts";
import type { Reflector } from "../../platform/kube/reflector.ts";
import type { ProxyProvider } from "../proxies/rules/proxy-provider.ts";
import { listAnalyses } from "./analyses/fetch-analysis.ts";
import type { SiteAnalysis } from "./analyses/site-analysis.ts";
import { configurationName } from "./configuration-name.ts";
import { lookupTarget } from "./lookup-site.ts";
import { bestFirst, isEligible } from "./rules/recommend.ts";
import { browserRecord, evidenceAnswer, proxyRecipe } from "./rules/recommendation-answer.ts";
import { type SiteIndex, type SitePlace, siteDomain } from "./site-index.ts";
import type { SiteScope } from "./site-recipe.ts";
import type { RecommendationSummary, SiteAnswer, summarySorts } from "./site-wire.ts";

/** Names that are looked at before others have their turn: about a millisecond. */
const atOnce = 5000;

type SiteQuery = { query?: string | undefined; scope?: SiteScope | undefined; limit: number; offset: number };

/** A site as answers show it; undefined when it has gone meanwhile. */
export const siteAnswer = (
  place: SitePlace,
  { sites, config }: { config: Config; sites: SiteIndex },
): SiteAnswer | undefined => {
  const site = sites.of(siteDomain(place)).find(place);
  return (
    site && {
      ...place,
      configurations: bestFirst(site.known).map(({ recipe, evidence, decisive }) => ({
        browser: browserRecord(recipe.browser),
        proxy: proxyRecipe(recipe.proxy),
        eligible: isEligible(decisive, config.sites),
        evidence: evidenceAnswer(evidence),
      })),
      guidance: site.guidance ?? null,
    }
  );
};

/** A page of what the registry knows; `query`: a part of the name. Yields to others while it searches. */
export const listSites = async (
  { query, scope, limit, offset }: SiteQuery,
  deps: { config: Config; sites: SiteIndex },
  signal: AbortSignal,
): Promise<{ sites: SiteAnswer[]; hasMore: boolean }> => {
  const part = query?.toLowerCase();
  const found: SitePlace[] = [];
  let seen = 0;
  let matching = 0;
  for (const place of deps.sites.places()) {
    seen += 1;
    if (seen % atOnce === 0) {
      await nextTurn();
      signal.throwIfAborted();
    }
    if ((scope && place.scope !== scope) || (part && !place.target.toLowerCase().includes(part))) continue;
    matching += 1;
    if (matching > offset + limit) break;
    if (matching > offset) found.push(place);
  }
  return { sites: found.flatMap((place) => siteAnswer(place, deps) ?? []), hasMore: matching > offset + limit };
};

// What is recommended for the targets that were analyzed: `config_registry.list` of the public clients.

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

/**
 * The analyzed targets whose URL has `query` in it, in any case. Targets that sort alike are in the order of their
 * URLs.
 */
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
      const { recommendation } = lookupTarget({ target, countries: deps.config.sites.proxyCountries }, deps);
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
