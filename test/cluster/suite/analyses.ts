/** Analyses of sites, asked for by the API. */

import { browserKind } from "../../../src/core/model/browsers/browser.ts";
import { siteAnalysisKind } from "../../../src/features/sites/analyses/site-analysis.ts";
import { shardOf } from "../../../src/features/sites/pack-sites.ts";
import { siteEvidenceKind } from "../../../src/features/sites/site-evidence.ts";
import type { AnalysisAnswer, AnalysisState, LookupAnswer } from "../../../src/features/sites/site-wire.ts";
import type { Pod } from "../../../src/platform/kube/objects.ts";
import { pods } from "../../../src/platform/kube/resource-type.ts";
import { type Lane, trialsNamespace } from "../lane.ts";
import { callOf } from "./call.ts";
import { until } from "./until.ts";

/** A dozen trials of some seconds each, on a machine that does other work too, ms. */
const analyzedWithinMs = 300_000;

export const urlOf = (site: string): string => `http://${site}.example/`;

/** Asks for an analysis; returns its id. */
export const beginAnalysis = async (lane: Lane, url: string): Promise<string> => {
  const { analysis }: AnalysisAnswer = await callOf(lane)("POST", "/config-registry/resolve", { url });
  return analysis.id;
};

/** An analysis with its target. */
export type ReadAnalysis = AnalysisState & Pick<AnalysisAnswer, "target">;

export const readAnalysis = async (lane: Lane, id: string): Promise<ReadAnalysis> => {
  const { analysis, target }: AnalysisAnswer = await callOf(lane)("GET", `/config-registry/analyses/${id}`);
  return { ...analysis, target };
};

/** The analysis once it has ended. */
export const endedAnalysis = (lane: Lane, id: string): Promise<ReadAnalysis> =>
  until(
    `analysis ${id} ends`,
    async () => {
      const found = await readAnalysis(lane, id);
      return found.finished_at !== null && found;
    },
    { signal: lane.signal, limitMs: analyzedWithinMs },
  );

/** What a lookup answers. */
export const lookUp = (lane: Lane, url: string): Promise<LookupAnswer> =>
  callOf(lane)("POST", "/config-registry/lookup", { url });

/** `headless direct accessed ordinary 3`, one for each kind of trial. */
export const describeTrials = ({ trials }: AnalysisState): string[] => {
  const texts = trials.map(({ browser, verdict, reason }) =>
    [browser.headless ? "headless" : "headful", ...(browser.stealth ? ["stealth"] : []), verdict, reason].join(" "),
  );
  return [...Map.groupBy(texts, (text) => text)].map(([text, its]) => `${text} ${its.length}`);
};

/** Pods of browsers that make trials, those that end left out. */
export const trialPods = async ({ kube }: Lane): Promise<Pod[]> =>
  (await kube.list(pods, { namespace: trialsNamespace })).items.filter(({ metadata }) => !metadata.deletionTimestamp);

/** What is left of trials: browsers and pods, also such that end. */
export const trialsLeft = async ({ kube }: Lane): Promise<string[]> => {
  const lists = [
    await kube.list(browserKind, { namespace: trialsNamespace }),
    await kube.list(pods, { namespace: trialsNamespace }),
  ];
  return lists.flatMap(({ items }) => items.map(({ metadata }) => metadata.name));
};

/** Rejects unless the first run of an analysis counts once in the object of its domain. */
export const expectCounted = async ({ kube }: Lane, { id, target }: ReadAnalysis): Promise<string> => {
  const uid = (await kube.get(siteAnalysisKind, { name: id }))?.metadata.uid;
  const name = shardOf(target.domain);
  const runs = (await kube.get(siteEvidenceKind, { name }))?.status?.runs ?? [];
  if (runs.filter((run) => run === `${uid}/1`).length !== 1) throw new Error(`${name} has the runs ${runs.join(", ")}`);
  return name;
};
