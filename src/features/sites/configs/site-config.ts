/**
 * The kind SiteConfig: what a platform team knows of how browsers reach one site (the LOOKUP rules). It has no secrets.
 */
import { z } from "zod";
import { Conditions, observedGeneration } from "../../../platform/kinds/conditions.ts";
import { apiGroup, type ClusterKind, type ClusterResource, validations } from "../../../platform/kinds/kind.ts";
import {
  evidenceFields,
  maxConfigurations,
  maxGuidance,
  maxUrlLength,
  recipeFields,
  siteScopes,
} from "../site-recipe.ts";

const SiteConfiguration = z
  .object({
    ...recipeFields,
    evidence: z.object(evidenceFields).describe("How often the configuration reached the site."),
  })
  .describe("A configuration that was tried, and what came of it.");

export const SiteConfigSpec = z
  .object({
    scope: z
      .enum(siteScopes)
      .describe("exact: one URL. host: all of a host. domain: all hosts of a registrable domain. A narrower one wins."),
    target: z
      .string()
      .min(1)
      .max(maxUrlLength)
      .describe(
        "The URL, host or domain as a lookup answers it in target, e.g. https://www.example.com/a, www.example.com, example.com.",
      ),
    configurations: z
      .array(SiteConfiguration)
      .max(maxConfigurations)
      .default([])
      .describe(
        "What was tried. A lookup recommends the one with the best success rate; with 3 judged trials and a rate of 0.7 at least, unless the installation asks for more or less.",
      ),
    guidance: z
      .string()
      .min(1)
      .max(maxGuidance)
      .optional()
      .describe("Advice for whoever opens the site, in Markdown, e.g. that a consent dialog covers the page."),
  })
  .meta(
    validations(
      {
        rule: "self.target == oldSelf.target && self.scope == oldSelf.scope",
        message: "target and scope can't change; create another object",
      },
      {
        rule: "self.scope == 'exact' ? self.target.matches('^https?://[^/?#]+/[^?#]*$') : !self.target.contains('/') && (self.target.startsWith('[') || !self.target.contains(':'))",
        message:
          "an exact target is an http or https URL with a path, at least /, and no query; the target of a host or a domain is a name alone",
        fieldPath: ".target",
      },
    ),
  )
  .describe("What is known of the site.");

export type SiteConfigSpec = z.infer<typeof SiteConfigSpec>;

const SiteConfigStatus = z
  .object({ observedGeneration, conditions: Conditions })
  .describe("The observed state. Written by the operator.");

export type SiteConfig = ClusterResource<typeof SiteConfigSpec, typeof SiteConfigStatus>;

/** The descriptor of the kind. */
export const siteConfigKind: ClusterKind<typeof SiteConfigSpec, typeof SiteConfigStatus> = {
  ...apiGroup,
  kind: "SiteConfig",
  plural: "siteconfigs",
  // kubectl takes `sc` for StorageClass, which has it too.
  shortNames: ["sitecfg", "sc"],
  namespaced: false,
  description:
    "What is known of how browsers reach one site: configurations that were tried there, and how often each reached it. Lookups of all projects use it.",
  spec: SiteConfigSpec,
  status: SiteConfigStatus,
  printerColumns: [
    { name: "Scope", type: "string", jsonPath: ".spec.scope" },
    { name: "Target", type: "string", jsonPath: ".spec.target" },
    { name: "Accepted", type: "string", jsonPath: '.status.conditions[?(@.type=="Accepted")].status' },
    { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: "Reason", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
};
