/**
 * A pool of blank browsers: stock for `POST /browsers` of its project, out of callers' sight. Its pods start no browser
 * before a session has them; then that session is an on-demand one (docs/adr/0075-blank-stock.md).
 */
import { isDeepStrictEqual } from "node:util";
import { problemAt, type SpecProblem } from "../../../platform/rules/problem.ts";
import { settingsWith } from "../settings/setting-table.ts";
import { type BrowserPool, BrowserPoolSpec } from "./browser-pool.ts";

/** Whether the browsers of a pool are blank. */
export const isBlank = ({ spec }: Pick<BrowserPool, "spec">): boolean => spec.blank === true;

/** What the pod of a browser follows from. */
const ofPod = new Set<string>(["blank", "headless", "memory"]);

/** Settings that the requests say which get blank browsers, and how a pool would hand out its browsers otherwise. */
const ofRequest = [
  ...settingsWith("hashed", true).filter((key) => !ofPod.has(key)),
  ...(["chromePolicyRef", "serveOnDemand", "reusePolicy"] as const),
];

const defaults: Record<string, unknown> = BrowserPoolSpec.parse({ size: 1 });

/** The settings of a pool of blank browsers that it can't have. */
export const blankProblems = (spec: BrowserPoolSpec): SpecProblem[] => {
  if (!isBlank({ spec })) return [];
  const given: Record<string, unknown> = spec;
  return ofRequest
    .filter((key) => !isDeepStrictEqual(given[key], defaults[key]))
    .map((key) => problemAt([key], "leave it out: a pool of blank browsers has headless and memory alone"));
};
