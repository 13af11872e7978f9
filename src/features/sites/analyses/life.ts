/**
 * One round of one analysis.
 *
 *   ordered ──sites are analyzed here──► worked off (run.ts) ──► ended ──a day──► deleted
 *      ├──they are not, or it is none───► Failed ────────────────►┤
 *      └──it is canceled────────────────► Canceled ──────────────►┘
 *
 * Also an installation that analyzes no sites (any more) ends what was ordered and lets what is deleted go.
 */
import { conditionsOf, type Draft } from "../../../core/reconcile/conditions.ts";
import { dropFinalizer, withFinalizer } from "../../../core/reconcile/finalizers.ts";
import type { BlobStore } from "../../../platform/blobs/blob-store.ts";
import { blobsFinalizer } from "../../../platform/kinds/kind.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import { hasReason } from "../../../platform/kube/kube-error.ts";
import type { Lead } from "../../../platform/kube/leader-election.ts";
import type { Requeue } from "../../../platform/kube/work-queue.ts";
import { targetOf } from "../rules/target.ts";
import {
  analysisName,
  endedAnalysisLifeMs,
  hasEnded,
  isCanceled,
  type SiteAnalysis,
  type SiteAnalysisStatus,
  siteAnalysisKind,
  type Trial,
} from "./site-analysis.ts";

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
  Canceled: "the analysis was canceled",
};

/** Writes the status of the run; throws a conflict when another run was asked for, and the round begins anew. */
export const writeStatus = async (analysis: SiteAnalysis, changes: Phase, deps: StatusDeps): Promise<SiteAnalysis> => {
  deps.lead.check();
  const before = analysis.status ?? { conditions: [], run: 0, trials: [], phase: "Pending" };
  const after = { ...before, ...changes };
  const ready: Draft = {
    type: "Ready",
    status: after.phase === "Succeeded",
    reason: after.phase,
    message: after.message ?? texts[after.phase],
    outlook: after.phase === "Failed" || after.phase === "Canceled" ? "Stalled" : "Reconciling",
  };
  const status: SiteAnalysisStatus = {
    ...after,
    observedGeneration: analysis.metadata.generation ?? 0,
    conditions: conditionsOf(analysis, [ready], deps.now()),
  };
  return deps.kube.replace(siteAnalysisKind, { ...analysis, status }, { subresource: "status" });
};

/** Deadline for deleting a screenshot, ms. */
const deleteMs = 10_000;

/** Deletes the screenshots of these trials. */
export const deleteScreenshots = async (trials: readonly Trial[], { blobs }: { blobs: BlobStore }): Promise<void> => {
  for (const { screenshot } of trials)
    if (screenshot) await blobs.delete(screenshot, { signal: AbortSignal.timeout(deleteMs) });
};

/** Makes the trials of analyses. */
export type Analyzer = {
  /** Works one off to its end; what it did before is in its status. */
  workOff(analysis: SiteAnalysis, signal: AbortSignal): Promise<void>;
  /** Deletes what trials of this analysis have left behind. */
  deleteLeftovers(name: string): Promise<void>;
};

/** `analyzer`: undefined where no site is analyzed. */
export type LifeDeps = StatusDeps & { blobs: BlobStore; analyzer: Analyzer | undefined };

/** Why an object that somebody wrote by hand is no analysis; undefined when it is one. */
const problemOf = ({ metadata, spec: { target } }: SiteAnalysis): string | undefined => {
  const found = targetOf(target.normalized);
  if (typeof found === "string") return `spec.target.normalized: ${found}`;
  if (found.normalized !== target.normalized) return `spec.target.normalized: a lookup asks for ${found.normalized}`;
  if (found.host !== target.host || found.domain !== target.domain)
    return `spec.target: host and domain are ${found.host} and ${found.domain}`;
  const name = analysisName(target.normalized);
  return metadata.name === name ? undefined : `metadata.name: the analysis of this target is named ${name}`;
};

const remove = async (analysis: SiteAnalysis, { kube, lead, blobs, analyzer }: LifeDeps): Promise<void> => {
  if (!analysis.metadata.finalizers?.includes(blobsFinalizer)) return;
  lead.check();
  await analyzer?.deleteLeftovers(analysis.metadata.name);
  await deleteScreenshots(analysis.status?.trials ?? [], { blobs });
  await dropFinalizer(siteAnalysisKind, { object: analysis, finalizer: blobsFinalizer }, kube);
};

type Stopped = { phase: "Failed" | "Canceled"; message: string };

/** Ends a run without an outcome; its trials are dropped. */
const stop = async (
  { status, ...analysis }: SiteAnalysis,
  { phase, message }: Stopped,
  deps: LifeDeps,
): Promise<void> => {
  await deleteScreenshots(status?.trials ?? [], deps);
  const { run } = analysis.spec;
  await writeStatus(analysis, { phase, run, trials: [], endedAt: isoOf(deps.now()), message }, deps);
};

const fail = (analysis: SiteAnalysis, message: string, deps: LifeDeps): Promise<void> =>
  stop(analysis, { phase: "Failed", message }, deps);

const cancel = async (analysis: SiteAnalysis, deps: LifeDeps): Promise<void> => {
  await deps.analyzer?.deleteLeftovers(analysis.metadata.name);
  await stop(analysis, { phase: "Canceled", message: texts.Canceled }, deps);
};

const end = async (analysis: SiteAnalysis, deps: LifeDeps, signal: AbortSignal): Promise<void> => {
  if (isCanceled(analysis)) return cancel(analysis, deps);
  const problem = problemOf(analysis);
  if (problem !== undefined) return fail(analysis, problem, deps);
  if (!deps.analyzer) return fail(analysis, "this installation analyzes no sites", deps);
  return deps.analyzer.workOff(analysis, signal);
};

/** Works one analysis off to its end; an ended one is deleted when its time is over. Safe to repeat at any point. */
export const serveAnalysis = async (
  name: string,
  deps: LifeDeps,
  signal: AbortSignal,
): Promise<Requeue | undefined> => {
  const known = await deps.kube.get(siteAnalysisKind, { name });
  if (!known) return undefined;
  if (known.metadata.deletionTimestamp) {
    await remove(known, deps);
    return undefined;
  }
  deps.lead.check();
  const analysis = await withFinalizer(siteAnalysisKind, { object: known, finalizer: blobsFinalizer }, deps.kube);
  if (hasEnded(analysis)) {
    const endedMs = Date.parse(analysis.status?.endedAt ?? "") || 0;
    const leftMs = endedMs + endedAnalysisLifeMs - deps.now();
    if (leftMs > 0) return { requeueAfterMs: leftMs };
    await deps.kube.delete(siteAnalysisKind, analysis.metadata, { uid: analysis.metadata.uid });
    return undefined;
  }
  try {
    await end(analysis, deps, signal);
  } catch (error) {
    // Another run was asked for, or it was deleted meanwhile: the watch has shown that.
    if (!hasReason(error, "Conflict") && !hasReason(error, "NotFound")) throw error;
    return { requeueAfterMs: 0 };
  }
  return { requeueAfterMs: endedAnalysisLifeMs };
};
