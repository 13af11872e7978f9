import { z } from "zod";
import type { Config } from "../../core/config/config.ts";
import { Paging, pageHeaders, pageOf } from "../../core/http/paging.ts";
import { routesWith } from "../../core/http/route.ts";
import type { ApiMetrics } from "../../core/metrics/api-metrics.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { Reflector } from "../../platform/kube/reflector.ts";
import type { Locks } from "../../platform/redis/locks.ts";
import type { ProxyProvider } from "../proxies/rules/proxy-provider.ts";
import { cancelAnalysis } from "./analyses/cancel-analysis.ts";
import { fetchAnalysis, listAnalyses } from "./analyses/fetch-analysis.ts";
import type { SiteAnalysis } from "./analyses/site-analysis.ts";
import { listRecommendations, listSites } from "./list-sites.ts";
import { lookupSite } from "./lookup-site.ts";
import { resolveSite } from "./resolve-site.ts";
import type { AnalysisSettings } from "./rules/analysis-settings.ts";
import type { SiteIndex } from "./site-index.ts";
import { siteScopes } from "./site-recipe.ts";
import {
  AnalysisAnswer,
  AnalysisState,
  AnalysisSummary,
  LookupAnswer,
  LookupRequest,
  RecommendationSummary,
  ResolveRequest,
  SiteAnswer,
  summarySorts,
} from "./site-wire.ts";

type Deps = {
  analyses: Reflector<SiteAnalysis>;
  analysisSettings: AnalysisSettings | undefined;
  config: Config;
  kube: Kube;
  locks: Locks;
  metrics: ApiMetrics;
  proxyProvider: ProxyProvider;
  sites: SiteIndex;
};
const defineRoute = routesWith<Deps>();

const tag = "Config registry";
const scope = "project";
const search = z
  .string()
  .max(2048)
  .optional()
  .describe("The name that newer clients use for query; it goes before that.");

export const lookupSiteRoute = defineRoute(
  {
    method: "post",
    path: "/config-registry/lookup",
    operationId: "lookupConfigRegistry",
    tag,
    scope,
    permission: "registry:read",
    summary: "Look up which browser settings and proxy reach a URL",
    body: LookupRequest,
    onlyReads: true,
    answers: { 200: { description: "What is known of the target", schema: LookupAnswer } },
    errors: ["bad_request"],
  },
  async ({ body, deps }) => ({ status: 200, body: lookupSite(body, deps) }),
);

export const resolveSiteRoute = defineRoute(
  {
    method: "post",
    path: "/config-registry/resolve",
    operationId: "resolveConfigRegistry",
    tag,
    scope,
    permission: "registry:analyze",
    summary: "Have a URL analyzed",
    body: ResolveRequest,
    answers: { 200: { description: "The analysis of the target, and what is known now", schema: AnalysisAnswer } },
    errors: ["bad_request", "not_supported_here", "conflict", "too_many_requests"],
  },
  async ({ body, project, deps }) => ({ status: 200, body: await resolveSite(body, project, deps) }),
);

export const listAnalysesRoute = defineRoute(
  {
    method: "get",
    path: "/config-registry/analyses",
    operationId: "listAnalyses",
    tag,
    scope,
    permission: "registry:read",
    summary: "List analyses, the latest first",
    query: Paging.extend({
      query: z.string().max(2048).optional().describe("A part of the target in any case, or the exact id."),
      search,
      status: AnalysisState.shape.status.optional(),
    }),
    answers: { 200: { description: "The analyses of the last day", schema: z.array(AnalysisSummary) } },
    errors: ["bad_request"],
  },
  async ({ query, deps }) => pageOf(listAnalyses({ ...query, query: query.search ?? query.query }, deps), query),
);

export const getAnalysisRoute = defineRoute(
  {
    method: "get",
    path: "/config-registry/analyses/{id}",
    operationId: "getAnalysis",
    tag,
    scope,
    permission: "registry:read",
    summary: "Get an analysis",
    params: z.object({ id: z.string().min(1).max(255).describe("The analysis's id.") }),
    answers: {
      200: {
        description: "The analysis with its trials so far, and what is known of its target",
        schema: AnalysisAnswer,
      },
    },
    errors: ["not_found"],
  },
  async ({ params, deps }) => ({ status: 200, body: await fetchAnalysis(params.id, deps) }),
);

export const cancelAnalysisRoute = defineRoute(
  {
    method: "post",
    path: "/config-registry/analyses/{id}/cancel",
    operationId: "cancelAnalysis",
    tag,
    scope,
    permission: "registry:analyze",
    summary: "End an analysis before its time",
    description:
      "The operator ends it soon after: read the analysis until its status is canceled. One that has ended stays as it is.",
    params: z.object({ id: z.string().min(1).max(255).describe("The analysis's id.") }),
    answers: { 200: { description: "The analysis as it is now", schema: AnalysisAnswer } },
    errors: ["not_found"],
  },
  async ({ params, project, deps }) => ({ status: 200, body: await cancelAnalysis(params.id, project, deps) }),
);

export const listRecommendationsRoute = defineRoute(
  {
    method: "get",
    path: "/config-registry",
    operationId: "listConfigRegistry",
    tag,
    scope,
    permission: "registry:read",
    summary: "List the analyzed targets with what is recommended for them",
    query: Paging.extend({
      query: z
        .string()
        .max(2048)
        .optional()
        .describe("A part of the target in any case, or the exact id of its analysis."),
      search,
      sort_by: z.enum(summarySorts).default("last_requested_at").describe("What to sort by."),
      sort_order: z.enum(["asc", "desc"]).default("desc").describe("Which way to sort."),
    }),
    answers: { 200: { description: "The targets of the last day", schema: z.array(RecommendationSummary) } },
    errors: ["bad_request"],
  },
  async ({ query, deps }) => {
    const wanted = { query: query.search ?? query.query, sortBy: query.sort_by, order: query.sort_order };
    return pageOf(listRecommendations(wanted, deps), query);
  },
);

export const listSitesRoute = defineRoute(
  {
    method: "get",
    path: "/config-registry/sites",
    operationId: "listSites",
    tag,
    scope,
    permission: "registry:read",
    summary: "List what is known of sites",
    query: Paging.extend({
      query: z.string().max(2048).optional().describe("A part of the URL, host or domain, in any case."),
      search,
      scope: z.enum(siteScopes).optional().describe("Only sites of this scope."),
    }),
    answers: { 200: { description: "The sites with all that was tried", schema: z.array(SiteAnswer) } },
    errors: ["bad_request"],
  },
  async ({ query, deps, signal }) => {
    const { sites, hasMore } = await listSites({ ...query, query: query.search ?? query.query }, deps, signal);
    return { status: 200, body: sites, headers: pageHeaders(hasMore, query) };
  },
);
