/** The config registry over HTTP; field names as in the public API. Answers have no secrets. */
import { z } from "zod";
import { wireSchema } from "../../platform/kinds/wire.ts";
import { CreateProxy, ProxyConfig } from "../proxies/proxy-wire.ts";
import { analysisOutcomes, verdicts } from "./analyses/site-analysis.ts";
import { managedProxyTypes, maxGuidance, maxUrlLength, recipeFields, siteScopes } from "./site-recipe.ts";

/** Most countries of a lookup (LOOKUP-4). */
const maxCountries = 10;

const countries = z
  .array(z.string().regex(/^[A-Za-z]{2}$/, "must be an ISO 3166 code such as US"))
  .min(1)
  .max(maxCountries)
  .describe(
    "ISO 3166 codes of the countries whose proxies may be recommended. Left out: the installation's, any by default.",
  );

export const LookupRequest = z.object({
  url: z.string().max(maxUrlLength).meta({ format: "uri" }).describe("A public http or https URL."),
  allowed_proxy_countries: countries.optional(),
});
export type LookupRequest = z.infer<typeof LookupRequest>;

const TargetAnswer = z.object({
  normalized: z.string().describe("Scheme, host, port and path that are looked up."),
  host: z.string().describe("The whole host name."),
  domain: z.string().describe("The registrable domain, by the Public Suffix List with its private section."),
});

const count = z.int().min(0);

const EvidenceAnswer = z.object({
  success_rate: z.number().min(0).max(1).describe("Accessed trials by judged ones."),
  sample_size: count.describe("Judged trials: accessed and blocked ones."),
  accessed: count,
  blocked: count,
  inconclusive: count,
  run_count: count.describe("Runs that the trials were part of."),
  last_observed_at: z.iso.datetime().describe("When the last trial was."),
  last_supported_at: z.iso
    .datetime()
    .optional()
    .describe("When the last run was whose trials alone were enough to recommend it."),
});

const Managed = z
  .object({
    type: z.enum(managedProxyTypes),
    protocol: CreateProxy.shape.protocol,
    bypass_hosts: CreateProxy.shape.bypass_hosts,
    config: ProxyConfig.pick({ country: true, city: true, state: true, zip: true, asn: true, os: true }).optional(),
  })
  .describe("A body for POST /proxies: create the proxy once, and give its id to browsers as proxy.id.");

export const ProxyRecipe = z.discriminatedUnion("mode", [
  z.strictObject({ mode: z.literal("direct") }).describe("No proxy; browsers take it as their proxy."),
  z.object({ mode: z.literal("managed"), create: Managed }),
]);
export type ProxyRecipe = z.infer<typeof ProxyRecipe>;

export const RecommendationAnswer = z.object({
  type: z.literal("recommendation"),
  browser: wireSchema(recipeFields.browser.unwrap()).describe("Settings for POST /browsers."),
  proxy: ProxyRecipe,
  match_scope: z
    .enum(siteScopes)
    .describe("exact: known of this target. host, domain: known of all of its host or domain."),
  matched_target: z.string().describe("The target, host or domain whose knowledge it is."),
  evidence: EvidenceAnswer,
});
export type RecommendationAnswer = z.infer<typeof RecommendationAnswer>;

/** Why there is no recommendation. A lookup knows the first only; the others come from analyses (LOOKUP-28). */
export const noRecommendationCodes = [
  "proxy_restricted",
  "target_not_evaluable",
  "no_working_configuration",
  "inconclusive",
] as const;

/** It has no further fields (LOOKUP-27). */
export const NoRecommendation = z.strictObject({
  type: z.literal("no_recommendation"),
  code: z.enum(noRecommendationCodes),
  message: z.string(),
});
export type NoRecommendation = z.infer<typeof NoRecommendation>;

export const LookupAnswer = z.object({
  target: TargetAnswer,
  recommendation: z
    .discriminatedUnion("type", [RecommendationAnswer, NoRecommendation])
    .nullable()
    .describe("null: no configuration is known that works."),
  working_configurations: z.array(RecommendationAnswer).describe("All that work, the recommended one first."),
  guidance: z
    .string()
    .max(maxGuidance)
    .nullable()
    .describe("Advice in Markdown, which nobody has verified for this target; null: none."),
});
export type LookupAnswer = z.infer<typeof LookupAnswer>;

/** The request of `POST /config-registry/resolve`. */
export const ResolveRequest = LookupRequest.extend({
  url: LookupRequest.shape.url.describe("A public http or https URL, which browsers will open."),
});
export type ResolveRequest = z.infer<typeof ResolveRequest>;

const TrialAnswer = z.object({
  browser: RecommendationAnswer.shape.browser,
  proxy: ProxyRecipe,
  verdict: z.enum(verdicts).describe("Whether the browser reached the site; inconclusive: the trial says nothing."),
  reason: z.string().describe("Why, as one word; docs/judging.md lists them."),
  http_status: z.int().optional().describe("The status of the page, if one came."),
  started_at: z.iso.datetime(),
  duration_ms: z.int().min(0),
});

/**
 * How far a run is, in the words of the public clients. Nothing expires here: a run that takes too long completes as
 * inconclusive.
 */
const analysisStatus = z.enum(["running", "completed", "failed", "canceled"]);

export const AnalysisState = z.object({
  id: z.string().describe("The analysis's id, the same for each run of the target."),
  status: analysisStatus.describe(
    "running: it waits for a browser, or tries. failed: it could not be carried out. canceled: its project has ended it.",
  ),
  run: z.int().min(1).describe("The number of the run that this is about."),
  created_at: z.iso.datetime().describe("When this run was asked for."),
  started_at: z.iso.datetime().optional().describe("When its first trial could begin; left out while it waits."),
  finished_at: z.iso.datetime().nullable().describe("When it ended; null: it has not."),
  expires_at: z.iso.datetime().describe("Until when the run ends at the latest; of a run that waits, if it began now."),
  intent: z.null().describe("Always null: a trial opens the page and does nothing there."),
  failure: z
    .object({ code: z.string(), message: z.string() })
    .optional()
    .describe("Why it failed, or that it was canceled."),
  outcome: z.enum(analysisOutcomes).optional().describe("What came of it, once it has completed."),
  message: z.string().optional().describe("The same as a sentence."),
  trials: z.array(TrialAnswer).describe("The trials so far, in their order."),
});
export type AnalysisState = z.infer<typeof AnalysisState>;

/** An entry of `GET /config-registry/analyses`. */
export const AnalysisSummary = z.object({ analysis: AnalysisState, target: TargetAnswer });
export type AnalysisSummary = z.infer<typeof AnalysisSummary>;

/** The answer of `resolve`, and of a read analysis. */
export const AnalysisAnswer = LookupAnswer.extend({
  analysis: AnalysisState.describe("The analysis of the target."),
  recommendation: LookupAnswer.shape.recommendation.describe(
    "What is known now; null: nothing yet. The codes that a lookup never answers are of an ended analysis.",
  ),
});
export type AnalysisAnswer = z.infer<typeof AnalysisAnswer>;

/** By what `GET /config-registry` sorts. */
export const summarySorts = [
  "target",
  "analysis_status",
  "recommended_config",
  "last_requested_at",
  "success_rate",
] as const;

/** An entry of `GET /config-registry`. */
export const RecommendationSummary = z.object({
  target: z.string().describe("The URL that was analyzed, normalized."),
  analysis_id: z.string().describe("Its analysis."),
  analysis_status: analysisStatus,
  last_requested_at: z.iso.datetime().describe("When its analysis was last asked for."),
  recommendation: RecommendationAnswer.nullable().describe("What is recommended for it now; null: nothing."),
  recommended_config_label: z.string().nullable().describe("The recommended configuration in words."),
  success_rate: z.number().min(0).max(1).nullable().describe("How often it reached the site."),
});
export type RecommendationSummary = z.infer<typeof RecommendationSummary>;

export const SiteAnswer = z.object({
  scope: z.enum(siteScopes),
  target: z.string().describe("The URL, the host or the domain."),
  configurations: z
    .array(
      z.object({
        browser: RecommendationAnswer.shape.browser,
        proxy: ProxyRecipe,
        eligible: z.boolean().describe("Whether its evidence is enough to recommend it."),
        evidence: EvidenceAnswer,
      }),
    )
    .describe("All that were tried, the best first, also those that do not work."),
  guidance: z.string().nullable(),
});
export type SiteAnswer = z.infer<typeof SiteAnswer>;
