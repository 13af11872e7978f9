/**
 * How a browser may reach a site, and how often it did: what the kinds of the config registry share. It has no secrets.
 */
import { z } from "zod";
import { headless, stealth, Viewport } from "../../core/model/settings/browser-settings.ts";
import { validations } from "../../platform/kinds/kind.ts";
import { managedProxyFields, memberRules } from "../proxies/proxy.ts";

/** Where knowledge counts, narrow before wide: one URL, all of a host, all hosts of a registrable domain. */
export const siteScopes = ["exact", "host", "domain"] as const;
export type SiteScope = (typeof siteScopes)[number];

/** Types of managed proxies, cheaper before dearer. A `custom` one belongs to a project and may have a password. */
export const managedProxyTypes = ["datacenter", "isp", "residential", "mobile"] as const;

/** Longest URL of a target, characters (LOOKUP-2). */
export const maxUrlLength = 2048;

/** Configurations of one site that are kept. */
export const maxConfigurations = 64;

/** Longest guidance, characters. */
export const maxGuidance = 4096;

const defaultViewport = { width: 1920, height: 1080 };

const RecipeBrowser = z
  .object({
    stealth,
    headless,
    gpu: z.boolean().default(false).describe("Hardware graphics."),
    viewport: Viewport.default(defaultViewport).describe("Size of the browser window."),
  })
  .describe("The settings of the browser, as POST /browsers takes them.");

const ManagedProxy = z
  .object({
    type: z.enum(managedProxyTypes).describe("The type of the proxy, from the installation's provider."),
    ...managedProxyFields,
  })
  .meta(validations(...memberRules(managedProxyTypes)))
  .describe("A proxy that callers create once, by POST /proxies.");
export type ManagedProxy = z.infer<typeof ManagedProxy>;

/** A configuration; without `proxy` the browser connects directly. */
export const recipeFields = {
  browser: RecipeBrowser.default({ stealth: false, headless: false, gpu: false, viewport: defaultViewport }),
  proxy: ManagedProxy.optional().describe("The proxy. Left out: the browser connects directly."),
};
/** A configuration, as the registry keeps it. */
export const Recipe = z.object(recipeFields);
export type Recipe = z.infer<typeof Recipe>;

/** No sum of counts comes near to what a number holds exactly. */
const count = z.int().min(0).max(1_000_000_000);

/** Counts of trials. Times are RFC 3339. */
export const evidenceFields = {
  accessed: count.describe("Trials that reached the site."),
  blocked: count.describe("Trials that the site refused."),
  inconclusive: count.default(0).describe("Trials that say nothing about it, e.g. because the proxy was down."),
  runCount: count.default(1).describe("Runs that these trials were part of."),
  lastObservedAt: z.iso.datetime().describe("When the last of these trials was (RFC 3339)."),
  lastSupportedAt: z.iso
    .datetime()
    .optional()
    .describe("When the last run was whose trials alone were enough to recommend the configuration."),
};
const Evidence = z.object(evidenceFields);
export type Evidence = z.infer<typeof Evidence>;
