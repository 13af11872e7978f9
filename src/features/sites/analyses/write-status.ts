import { conditionsOf } from "../../../core/reconcile/conditions.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { Lead } from "../../../platform/kube/leader-election.ts";
import { type SiteAnalysis, type SiteAnalysisStatus, siteAnalysisKind } from "./site-analysis.ts";

export type StatusDeps = {
  kube: Kube;
  lead: Lead;
  /** ms since 1970. */
  now: () => number;
};

type Phase = Pick<SiteAnalysisStatus, "phase"> & Partial<SiteAnalysisStatus>;

/** A time as statuses have it. */
export const isoOf = (ms: number): string => new Date(ms).toISOString();

const texts: Record<SiteAnalysisStatus["phase"], string> = {
  Pending: "the analysis waits for a browser",
  Running: "trials are made",
  Succeeded: "the analysis has ended",
  Failed: "the analysis could not be carried out",
};

/** Writes the status of the run; throws a conflict when another run was asked for, and the round begins anew. */
export const writeStatus = async (analysis: SiteAnalysis, changes: Phase, deps: StatusDeps): Promise<SiteAnalysis> => {
  deps.lead.check();
  const before = analysis.status ?? { conditions: [], run: 0, trials: [], phase: "Pending" };
  const after = { ...before, ...changes };
  const ready = {
    type: "Ready",
    status: after.phase === "Succeeded",
    reason: after.phase,
    message: after.message ?? texts[after.phase],
  };
  const status: SiteAnalysisStatus = {
    ...after,
    observedGeneration: analysis.metadata.generation ?? 0,
    conditions: conditionsOf(analysis, [ready], deps.now()),
  };
  return deps.kube.replace(siteAnalysisKind, { ...analysis, status }, { subresource: "status" });
};
