/** How an installation analyzes sites. The administrator writes it as a YAML file (docs/config-registry.md). */
import { z } from "zod";
import { managedProxyFields } from "../../proxies/proxy.ts";
import { proxyProblems } from "../../proxies/rules/proxy-problems.ts";
import { managedProxyTypes } from "../site-recipe.ts";

const TriedProxy = z
  .strictObject({ type: z.enum(managedProxyTypes), ...managedProxyFields })
  .superRefine((proxy, context) => {
    for (const { path, message } of proxyProblems(proxy))
      context.addIssue({ code: "custom", path: [...path], message });
    for (const type of managedProxyTypes)
      if (proxy[type] !== undefined && proxy.type !== type)
        context.addIssue({ code: "custom", path: [type], message: `is for proxies of that type only` });
  });

export const AnalysisSettings = z.strictObject({
  namespace: z
    .string()
    .regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/)
    .default("browserpool-registry")
    .describe("The namespace, a project of its own, in which the browsers of trials run."),
  browsers: z
    .int()
    .min(1)
    .max(100)
    .default(1)
    .describe("Browsers of trials at once, besides callers' browsers, and so analyses at once."),
  perHour: z.int().min(1).max(100_000).default(60).describe("Analyses that begin in an hour, of all projects."),
  perProjectAndHour: z.int().min(1).max(100_000).default(20).describe("The same of one project."),
  rerunMinutes: z.int().min(0).max(10_080).default(10).describe("Minutes in which a target is not analyzed again."),
  visitSeconds: z.int().min(5).max(300).default(30).describe("Time of one visit."),
  visitMegabytes: z.int().min(1).max(1024).default(20).describe("Megabytes that one visit may load."),
  robots: z
    .enum(["respect", "ignore"])
    .default("respect")
    .describe("Whether a target is left alone that the site's robots.txt excludes."),
  proxies: z.array(TriedProxy).max(32).default([]).describe("Proxies that are tried, besides none."),
  rulesFile: z.string().min(1).max(4096).optional().describe("File with further rules of the judge, beside this one."),
});
export type AnalysisSettings = z.infer<typeof AnalysisSettings>;
