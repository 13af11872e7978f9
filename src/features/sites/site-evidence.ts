/**
 * The kind SiteEvidence: what trials have found, and what was imported. Sites of one registrable domain are in one
 * object, the evidence of many domains shares it: one object for each site would fill etcd and every replica's memory
 * (docs/adr/0036-knowledge-of-sites.md).
 */
import { z } from "zod";
import { apiGroup, type ClusterKind, type ClusterResource } from "../../platform/kinds/kind.ts";
import {
  evidenceFields,
  maxConfigurations,
  maxGuidance,
  maxUrlLength,
  recipeFields,
  siteScopes,
} from "./site-recipe.ts";

/** Objects that share all domains. */
export const shardCount = 256;

/** Most characters of an object's packed sites: etcd takes 1.5 MiB of an object, and each run writes one whole. */
export const maxPackedSites = 524_288;

/** Runs that an object remembers, so that none counts twice; many more than can be unconfirmed at once. */
export const maxRememberedRuns = 256;

/** Where evidence comes from: trials of the registry, first navigations of sessions, a platform team's YAML. */
const evidenceSources = ["trial", "session", "given"] as const;

/** Origins of one configuration's evidence that are kept, e.g. clusters. */
export const maxOrigins = 16;

/** Latest runs of an origin and source whose counts are kept one by one, to see a site change. */
export const maxRecentRuns = 8;

const RecentRun = z.object({
  at: z.iso.datetime(),
  accessed: evidenceFields.accessed,
  blocked: evidenceFields.blocked,
});
export type RecentRun = z.infer<typeof RecentRun>;

const OriginEvidence = z.object({
  origin: z.string().regex(/^[a-z0-9-]{1,63}$/),
  source: z.enum(evidenceSources),
  ...evidenceFields,
  recent: z.array(RecentRun).max(maxRecentRuns).optional(),
});
export type OriginEvidence = z.infer<typeof OriginEvidence>;

/**
 * One site: a line of a packed object, and of an export. `origin` of evidence: the id of the installation that counted
 * it.
 */
export const SiteLine = z.object({
  scope: z.enum(siteScopes),
  target: z.string().min(1).max(maxUrlLength),
  configurations: z
    .array(z.object({ ...recipeFields, evidence: z.array(OriginEvidence).max(maxOrigins * evidenceSources.length) }))
    .max(maxConfigurations),
  guidance: z.string().min(1).max(maxGuidance).optional(),
});
export type SiteLine = z.infer<typeof SiteLine>;

const SiteEvidenceSpec = z.object({}).describe("Has no fields.");

const SiteEvidenceStatus = z
  .object({
    sites: z
      .string()
      .max(maxPackedSites)
      .default("")
      .describe("The sites: one JSON object a line, with gzip, in base64. `browserpool registry export` prints them."),
    siteCount: z.int().min(0).default(0).describe("How many sites these are."),
    runs: z
      .array(z.string().min(1).max(128))
      .max(maxRememberedRuns)
      .default([])
      .describe("The runs that were counted last, so that none counts twice."),
  })
  .describe("What was found. Written by the operator and by imports.");

export type SiteEvidence = ClusterResource<typeof SiteEvidenceSpec, typeof SiteEvidenceStatus>;

/** The descriptor of the kind. */
export const siteEvidenceKind: ClusterKind<typeof SiteEvidenceSpec, typeof SiteEvidenceStatus> = {
  ...apiGroup,
  kind: "SiteEvidence",
  plural: "siteevidences",
  shortNames: ["siteev"],
  namespaced: false,
  description:
    "What trials have found of many sites, packed. Users write none: they give knowledge as SiteConfig, or import it.",
  spec: SiteEvidenceSpec,
  status: SiteEvidenceStatus,
  printerColumns: [
    { name: "Sites", type: "integer", jsonPath: ".status.siteCount" },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
};
