import type { Config } from "../../core/config/config.ts";
import type { ApiMetrics } from "../../core/metrics/api-metrics.ts";
import type { Project } from "../../core/projects/projects.ts";
import { AppError, notSupportedHere } from "../../platform/base/errors.ts";
import { blobsFinalizer } from "../../platform/kinds/kind.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { Reflector } from "../../platform/kube/reflector.ts";
import type { Locks } from "../../platform/redis/locks.ts";
import type { ProxyProvider } from "../proxies/rules/proxy-provider.ts";
import { analysisAnswer } from "./analyses/fetch-analysis.ts";
import { analysisName, hasEnded, type SiteAnalysis, siteAnalysisKind } from "./analyses/site-analysis.ts";
import { requireCountries, requireTarget } from "./lookup-site.ts";
import type { AnalysisSettings } from "./rules/analysis-settings.ts";
import type { Target } from "./rules/target.ts";
import type { SiteIndex } from "./site-index.ts";
import type { AnalysisAnswer, ResolveRequest } from "./site-wire.ts";

const hourMs = 3_600_000;
const minuteMs = 60_000;

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

const requireSettings = ({ analysisSettings, config }: Deps): AnalysisSettings => {
  if (!analysisSettings)
    throw notSupportedHere([
      { path: "url", message: "this installation analyzes no sites (registry.analyses of the chart); use lookup" },
    ]);
  if (!config.browserFeatures.includes("network"))
    throw notSupportedHere([
      { path: "url", message: "sites are analyzed only where browsers have network rules; use lookup" },
    ]);
  return analysisSettings;
};

/** Throws `too_many_requests` when as many analyses began in the last hour as may. */
const requireRoom = (
  analyses: readonly SiteAnalysis[],
  project: Project,
  { perHour, perProjectAndHour }: AnalysisSettings,
  { metrics }: Deps,
): void => {
  const recent = analyses.filter(({ spec }) => Date.parse(spec.requestedAt) > Date.now() - hourMs);
  const own = recent.filter(({ spec }) => spec.project === project.id);
  const refuse = (whose: readonly SiteAnalysis[], limit: number, who: string): void => {
    if (whose.length < limit) return;
    const oldestMs = Math.min(...whose.map(({ spec }) => Date.parse(spec.requestedAt)));
    metrics.limited.inc({ limit: "analyses" });
    throw new AppError("too_many_requests", `${who} may have ${limit} sites analyzed in an hour`, {
      retryAfterSeconds: Math.max(1, Math.ceil((oldestMs + hourMs - Date.now()) / 1000)),
    });
  };
  refuse(own, perProjectAndHour, "a project");
  refuse(recent, perHour, "the organization");
};

/** Whether an analysis need not begin anew: it has not ended, or only just. */
const isFresh = (analysis: SiteAnalysis, { rerunMinutes }: AnalysisSettings): boolean =>
  !hasEnded(analysis) || Date.parse(analysis.status?.endedAt ?? "") > Date.now() - rerunMinutes * minuteMs;

type Wanted = { target: Target; countries: readonly string[] | undefined; project: Project };

/** The analysis of a target; begins a run where none is fresh. */
const begin = async ({ target, countries, project }: Wanted, deps: Deps): Promise<SiteAnalysis> => {
  const settings = requireSettings(deps);
  const { kube } = deps;
  const name = analysisName(target.normalized);
  const cached = deps.analyses.get({ name });
  if (cached && !cached.metadata.deletionTimestamp && isFresh(cached, settings)) return cached;
  // One at a time in all replicas: so each sees what the others have begun in this hour.
  return deps.locks.hold(["analyses"], async () => {
    const { items } = await kube.list(siteAnalysisKind);
    const known = items.find(({ metadata }) => metadata.name === name);
    if (known?.metadata.deletionTimestamp)
      throw new AppError("conflict", "the analysis of this target is being deleted; repeat the request", {
        retryAfterSeconds: 1,
      });
    if (known && isFresh(known, settings)) return known;
    requireRoom(items, project, settings, deps);
    const { normalized, host, domain } = target;
    const order = {
      target: { normalized, host, domain },
      run: (known?.spec.run ?? 0) + 1,
      requestedAt: new Date().toISOString(),
      project: project.id,
      ...(countries && { allowedProxyCountries: [...countries] }),
    };
    const metadata = { name, finalizers: [blobsFinalizer] };
    const analysis = known
      ? await kube.replace(siteAnalysisKind, { ...known, spec: order })
      : await kube.create(siteAnalysisKind, { metadata, spec: order });
    deps.analyses.put(analysis);
    return analysis;
  });
};

/**
 * Has a public URL analyzed, unless that is under way or just done, and answers at once with what is known. Throws
 * `bad_request`, `not_supported_here` where no site is analyzed, `too_many_requests`, and `conflict` while the target's
 * analysis is being deleted.
 */
export const resolveSite = async (request: ResolveRequest, project: Project, deps: Deps): Promise<AnalysisAnswer> => {
  const target = requireTarget(request.url);
  const countries = requireCountries(request.allowed_proxy_countries, deps);
  return analysisAnswer(await begin({ target, countries, project }, deps), { target, countries }, deps);
};
