/**
 * The kind SiteAnalysis: the order to find out which configurations reach a target, and what came of each trial. There
 * is one for a target; another run of it is another number in its spec.
 *
 *   Pending ──the operator begins──► Running ──a configuration works, or none is left──► Succeeded
 *                                       ├──it can't be carried out──► Failed
 *                                       └──who asked for it cancels──► Canceled
 */
import { createHash } from "node:crypto";
import { z } from "zod";
import { Conditions, observedGeneration } from "../../../platform/kinds/conditions.ts";
import { apiGroup, type ClusterKind, type ClusterResource } from "../../../platform/kinds/kind.ts";
import { maxGuidance, maxUrlLength, recipeFields } from "../site-recipe.ts";

/** Trials of one run, at most. */
export const maxTrials = 60;

/** Longest time of one run, ms; then it ends as inconclusive. */
export const analysisRunMs = 30 * 60 * 1000;

/** How long an ended analysis can be read, ms. */
export const endedAnalysisLifeMs = 24 * 60 * 60 * 1000;

/** What came of a trial. Only the first two count in a success rate. */
export const verdicts = ["accessed", "blocked", "inconclusive"] as const;
export type Verdict = (typeof verdicts)[number];

/** What came of an analysis. */
export const analysisOutcomes = [
  "recommendation",
  "target_not_evaluable",
  "no_working_configuration",
  "inconclusive",
] as const;
export type AnalysisOutcome = (typeof analysisOutcomes)[number];

const SiteAnalysisSpec = z
  .object({
    target: z
      .object({
        normalized: z.string().min(1).max(maxUrlLength).describe("The URL that is visited."),
        host: z.string().min(1).max(255).describe("Its host."),
        domain: z.string().min(1).max(255).describe("Its registrable domain."),
      })
      .describe("The target, as a lookup answers it."),
    run: z.int().min(1).max(1_000_000_000).default(1).describe("The number of the run; a higher one begins another."),
    canceledRun: z.int().min(1).max(1_000_000_000).optional().describe("The last run that is to end before its time."),
    requestedAt: z.iso.datetime().describe("When this run was asked for (RFC 3339)."),
    project: z.string().min(1).max(255).optional().describe("The project that asked for it."),
    allowedProxyCountries: z
      .array(z.string().regex(/^[A-Z]{2}$/))
      .max(300)
      .optional()
      .describe("Countries of the proxies that are tried. Left out: any."),
  })
  .describe("What is to be found out.");

const Trial = z
  .object({
    ...recipeFields,
    verdict: z.enum(verdicts).describe("Whether the browser reached the site."),
    reason: z.string().max(63).describe("Why, as one word."),
    startedAt: z.iso.datetime({ precision: 3 }).describe("When it began."),
    durationMs: z.int().min(0).max(86_400_000).describe("How long it took."),
    httpStatus: z.int().min(0).max(999).optional().describe("The status of the page."),
    notes: z.array(z.string().max(63)).max(32).default([]).describe("What was seen, each as one word."),
    screenshot: z.string().max(128).optional().describe("Where the screenshot is in the store of blobs."),
  })
  .describe("One visit by a fresh browser.");
export type Trial = z.infer<typeof Trial>;

export const SiteAnalysisStatus = z
  .object({
    observedGeneration,
    conditions: Conditions,
    phase: z
      .enum(["Pending", "Running", "Succeeded", "Failed", "Canceled"])
      .default("Pending")
      .describe("How far the run is."),
    run: z.int().min(0).default(0).describe("The run that this status is about."),
    startedAt: z.iso.datetime({ precision: 3 }).optional().describe("When the run began."),
    endedAt: z.iso.datetime({ precision: 3 }).optional().describe("When it ended."),
    outcome: z.enum(analysisOutcomes).optional().describe("What came of it."),
    message: z.string().max(1024).optional().describe("What came of it, for people."),
    rules: z.string().max(128).optional().describe("The version of the rules by which trials were judged."),
    guidance: z.string().max(maxGuidance).optional().describe("What trials saw that others should know, in Markdown."),
    trials: z.array(Trial).max(maxTrials).default([]).describe("The trials of the run, in their order."),
  })
  .describe("What was found. Written by the operator.");
export type SiteAnalysisStatus = z.infer<typeof SiteAnalysisStatus>;

export type SiteAnalysis = ClusterResource<typeof SiteAnalysisSpec, typeof SiteAnalysisStatus>;

/** The descriptor of the kind. */
export const siteAnalysisKind: ClusterKind<typeof SiteAnalysisSpec, typeof SiteAnalysisStatus> = {
  ...apiGroup,
  kind: "SiteAnalysis",
  plural: "siteanalyses",
  shortNames: ["sitean"],
  namespaced: false,
  description: "The order to find out which browser settings and proxies reach a target, and what came of each trial.",
  spec: SiteAnalysisSpec,
  status: SiteAnalysisStatus,
  printerColumns: [
    { name: "Target", type: "string", jsonPath: ".spec.target.normalized" },
    { name: "Run", type: "integer", jsonPath: ".spec.run" },
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    { name: "Outcome", type: "string", jsonPath: ".status.outcome" },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
};

/** The name of a target's analysis: one for each. */
export const analysisName = (normalized: string): string =>
  `a${createHash("sha256").update(normalized).digest("hex").slice(0, 23)}`;

const endPhases: ReadonlySet<SiteAnalysisStatus["phase"]> = new Set(["Succeeded", "Failed", "Canceled"]);

/** Whether the run that is asked for has ended. */
export const hasEnded = ({ spec, status }: SiteAnalysis): boolean =>
  status?.run === spec.run && endPhases.has(status.phase);

/** Whether the run that is asked for is to end before its time. */
export const isCanceled = ({ spec }: SiteAnalysis): boolean => (spec.canceledRun ?? 0) >= spec.run;
