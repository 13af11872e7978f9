/** Recommendations as the HTTP API shows them (LOOKUP-26 to LOOKUP-38). */

import type { Evidence, ManagedProxy, Recipe } from "../site-recipe.ts";
import type { LookupAnswer, NoRecommendation, ProxyRecipe, RecommendationAnswer } from "../site-wire.ts";
import type { Outcome, Working } from "./recommend.ts";
import { judged, successRate } from "./site.ts";
import type { Target } from "./target.ts";

/** The body of `POST /proxies` for a managed proxy (LOOKUP-38). */
export const proxyRecipe = (proxy: ManagedProxy | undefined): ProxyRecipe => {
  if (proxy === undefined) return { mode: "direct" };
  const { type, protocol, bypassHosts } = proxy;
  const config = proxy[type];
  return {
    mode: "managed",
    create: {
      type,
      ...(protocol && { protocol }),
      ...(bypassHosts && { bypass_hosts: bypassHosts }),
      ...(config && { config }),
    },
  };
};

/** `success_rate` has four digits: more say nothing. */
export const evidenceAnswer = (evidence: Evidence): RecommendationAnswer["evidence"] => ({
  success_rate: Math.round(successRate(evidence) * 1e4) / 1e4,
  sample_size: judged(evidence),
  accessed: evidence.accessed,
  blocked: evidence.blocked,
  inconclusive: evidence.inconclusive,
  run_count: evidence.runCount,
  last_observed_at: evidence.lastObservedAt,
  ...(evidence.lastSupportedAt !== undefined && { last_supported_at: evidence.lastSupportedAt }),
});

/**
 * The settings of a recipe for `POST /browsers` (LOOKUP-29). Written out: the general conversion takes longer than the
 * rest of a lookup.
 */
export const browserRecord = ({
  stealth,
  headless,
  gpu,
  viewport,
}: Recipe["browser"]): RecommendationAnswer["browser"] => ({
  stealth,
  headless,
  gpu,
  viewport: {
    width: viewport.width,
    height: viewport.height,
    ...(viewport.refreshRate !== undefined && { refresh_rate: viewport.refreshRate }),
  },
});

const record = ({ recipe, evidence, scope, matched }: Working): RecommendationAnswer => ({
  type: "recommendation",
  browser: browserRecord(recipe.browser),
  proxy: proxyRecipe(recipe.proxy),
  match_scope: scope,
  matched_target: matched,
  evidence: evidenceAnswer(evidence),
});

const restrictedTo = (countries: readonly string[]): NoRecommendation => ({
  type: "no_recommendation",
  code: "proxy_restricted",
  message: `what works here needs a proxy in ${countries.join(" or ")}, which allowed_proxy_countries leaves out`,
});

/** The answer of a lookup. */
export const lookupAnswer = (target: Target, { working, restricted, guidance }: Outcome): LookupAnswer => {
  const records = working.map(record);
  const { normalized, host, domain } = target;
  return {
    target: { normalized, host, domain },
    recommendation: records[0] ?? (restricted.length > 0 ? restrictedTo(restricted) : null),
    working_configurations: records,
    guidance: guidance ?? null,
  };
};
