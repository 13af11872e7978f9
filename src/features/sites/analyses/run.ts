/**
 * Works an analysis off. Its status is its memory: each trial is written there before the next begins, so another
 * operator goes on where this one stopped.
 *
 *   begin ──► plan ──next trial──► try ──► write it into the status ──► plan …
 *               └──decided──► add the run to the evidence, once by its id ──► write the outcome
 */
import type { BlobStore } from "../../../platform/blobs/blob-store.ts";
import type { EvidenceStore } from "../evidence-store.ts";
import type { AnalysisSettings } from "../rules/analysis-settings.ts";
import type { EligibleRules } from "../rules/recommend.ts";
import { guidanceOf, nextStep, type PlanRules, runResults } from "../rules/trial-plan.ts";
import { type Analyzer, deleteScreenshots, isoOf, type StatusDeps, writeStatus } from "./life.ts";
import { type AnalysisOutcome, analysisRunMs, type SiteAnalysis } from "./site-analysis.ts";
import { deleteLeftovers, runTrial, type TrialDeps } from "./trial.ts";

export type RunDeps = TrialDeps &
  StatusDeps & {
    blobs: BlobStore;
    settings: AnalysisSettings;
    rules: EligibleRules;
    /** The version of the judge's rules, and what guidance says for each note. */
    judgeVersion: string;
    sentences: Readonly<Record<string, string>>;
    evidence: EvidenceStore;
    /** The name under which this installation counts. */
    origin: string;
  };

/** A new run forgets the trials of the one before. */
const begin = async (analysis: SiteAnalysis, deps: RunDeps): Promise<SiteAnalysis> => {
  const { spec, status } = analysis;
  if (status?.run === spec.run && status.phase === "Running") return analysis;
  await deleteScreenshots(status?.trials ?? [], deps);
  const { status: _, ...bare } = analysis;
  const startedAt = isoOf(deps.now());
  return writeStatus(bare, { phase: "Running", run: spec.run, trials: [], startedAt, rules: deps.judgeVersion }, deps);
};

const finish = async (
  analysis: SiteAnalysis,
  { outcome, message }: { outcome: AnalysisOutcome; message: string },
  deps: RunDeps,
  signal: AbortSignal,
): Promise<void> => {
  const { metadata, spec, status } = analysis;
  const trials = status?.trials ?? [];
  const guidance = guidanceOf(trials, deps.sentences);
  deps.lead.check();
  const { left } = await deps.evidence.addRun(
    spec.target,
    {
      runId: `${metadata.uid}/${spec.run}`,
      origin: deps.origin,
      source: "trial",
      results: runResults(trials, deps.rules),
      guidance,
    },
    signal,
  );
  if (left > 0) deps.log.warn({ left, domain: spec.target.domain }, "sites left a full SiteEvidence object");
  await writeStatus(
    analysis,
    { phase: "Succeeded", outcome, message, endedAt: isoOf(deps.now()), ...(guidance !== undefined && { guidance }) },
    deps,
  );
};

const workOff = async (analysis: SiteAnalysis, deps: RunDeps, signal: AbortSignal): Promise<void> => {
  await deleteLeftovers(analysis.metadata.name, deps);
  let current = await begin(analysis, deps);
  const { proxies } = deps.settings;
  const plan: PlanRules = { ...deps.rules, proxies, countries: analysis.spec.allowedProxyCountries };
  for (;;) {
    signal.throwIfAborted();
    const trials = current.status?.trials ?? [];
    const step = nextStep(trials, plan);
    if (step.do === "end") return finish(current, step, deps, signal);
    if (deps.now() - Date.parse(current.status?.startedAt ?? "") > analysisRunMs)
      return finish(current, { outcome: "inconclusive", message: "it took too long" }, deps, signal);
    const trial = await runTrial({ analysis: current, recipe: step.recipe, number: trials.length }, deps, signal);
    current = await writeStatus(current, { phase: "Running", trials: [...trials, trial] }, deps);
  }
};

/** The analyzer of an installation that analyzes sites. */
export const createAnalyzer = (deps: RunDeps): Analyzer => ({
  workOff: (analysis, signal) => workOff(analysis, deps, signal),
  deleteLeftovers: (name) => deleteLeftovers(name, deps),
});
