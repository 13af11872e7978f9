import { retryConflicts } from "../../../core/objects/change-object.ts";
import type { Project } from "../../../core/projects/projects.ts";
import { AppError } from "../../../platform/base/errors.ts";
import type { AnalysisSettings } from "../rules/analysis-settings.ts";
import type { AnalysisAnswer } from "../site-wire.ts";
import { type AnswerDeps, analysisAnswerOf, fetchKnown } from "./fetch-analysis.ts";
import { hasEnded, isCanceled, type SiteAnalysis, siteAnalysisKind } from "./site-analysis.ts";

type Deps = AnswerDeps & { analysisSettings: AnalysisSettings | undefined };

/**
 * Orders the run of an analysis to end; the operator carries that out. One that has ended, or was ordered to, stays as
 * it is, and so does one where no site is analyzed: the operator fails it there. Throws `not_found`, and `forbidden` when
 * this project has not asked for the run.
 */
export const cancelAnalysis = async (id: string, project: Project, deps: Deps): Promise<AnalysisAnswer> => {
  const canceled = await retryConflicts("the analysis", async (): Promise<SiteAnalysis> => {
    const known = await fetchKnown(id, deps);
    const { spec } = known;
    if (hasEnded(known)) return known;
    if (spec.project !== project.id)
      throw new AppError(
        "forbidden",
        "this run was not asked for by this project, and who asks for a run may cancel it",
      );
    if (isCanceled(known) || !deps.analysisSettings) return known;
    return deps.kube.replace(siteAnalysisKind, { ...known, spec: { ...spec, canceledRun: spec.run } });
  });
  return analysisAnswerOf(canceled, deps);
};
