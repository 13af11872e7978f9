/** What the pages about the config registry show. */

import type { Config } from "../../core/config/config.ts";
import type { BlobStore } from "../../platform/blobs/blob-store.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { Reflector } from "../../platform/kube/reflector.ts";
import { type SiteAnalysis, siteAnalysisKind } from "./analyses/site-analysis.ts";
import { siteAnswer } from "./list-sites.ts";
import { analysisState } from "./rules/analysis-answer.ts";
import { bestFirst } from "./rules/recommend.ts";
import { recipeKey } from "./rules/site.ts";
import type { RecentRun } from "./site-evidence.ts";
import { type SiteIndex, type SitePlace, siteDomain } from "./site-index.ts";
import type { AnalysisSummary, SiteAnswer } from "./site-wire.ts";

/** The most that is read of a screenshot, bytes: four times what a visit keeps. */
const maxScreenshot = 262_144;

/** An analysis, and which of its trials have a screenshot. */
export type AnalysisView = AnalysisSummary & { screenshots: boolean[] };

const viewOf = (analysis: SiteAnalysis): AnalysisView => {
  const record = analysisState(analysis, Date.now());
  const trials = record.trials.length > 0 ? (analysis.status?.trials ?? []) : [];
  return {
    analysis: record,
    target: analysis.spec.target,
    screenshots: trials.map(({ screenshot }) => screenshot !== undefined),
  };
};

const rank = ({ analysis: { started_at, finished_at } }: AnalysisView): number => {
  if (finished_at !== null) return 2;
  return started_at === undefined ? 1 : 0;
};

/** All analyses: those that run, then those that wait, then the ended ones, each the latest first. */
export const viewAnalyses = ({ analyses }: { analyses: Reflector<SiteAnalysis> }): AnalysisView[] =>
  analyses
    .list()
    .map(viewOf)
    .sort((a, b) => rank(a) - rank(b) || b.analysis.created_at.localeCompare(a.analysis.created_at));

/** `recent`: the latest runs of each of the site's configurations, oldest first. */
export type SiteView = { site: SiteAnswer; recent: (readonly RecentRun[])[]; analyses: AnalysisView[] };

/** The latest runs of each configuration, in the order of `siteAnswer`. */
const runsOf = (place: SitePlace, { sites }: { sites: SiteIndex }): RecentRun[][] => {
  const finder = sites.of(siteDomain(place));
  const recent = finder.recent(place);
  return bestFirst(finder.find(place)?.known ?? []).map(({ recipe }) => recent.get(recipeKey(recipe)) ?? []);
};

/** One site with its latest runs, and the analyses of its target; undefined when nothing is known of it. */
export const viewSite = (
  place: SitePlace,
  deps: { analyses: Reflector<SiteAnalysis>; config: Config; sites: SiteIndex },
): SiteView | undefined => {
  const site = siteAnswer(place, deps);
  const isHere = ({ target }: AnalysisView): boolean =>
    [target.normalized, target.host, target.domain].includes(place.target);
  return (
    site && {
      site,
      recent: runsOf(place, deps),
      analyses: viewAnalyses(deps).filter(isHere).slice(0, 5),
    }
  );
};

/** The picture of what a trial showed; undefined when there is none. */
export const openScreenshot = async (
  { id, trial }: { id: string; trial: number },
  { kube, blobs }: { blobs: BlobStore; kube: Kube },
  signal: AbortSignal,
): Promise<Buffer | undefined> => {
  const analysis = await kube.get(siteAnalysisKind, { name: id });
  const key = analysis?.status?.trials[trial]?.screenshot;
  const blob = key === undefined ? undefined : await blobs.get(key, { signal });
  if (!blob || blob.bytes > maxScreenshot) return undefined;
  const parts: Uint8Array[] = [];
  for await (const part of blob.body) parts.push(part);
  return Buffer.concat(parts);
};
