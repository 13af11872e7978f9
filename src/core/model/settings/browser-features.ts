/** Settings that not every installation can carry out (HTTP-30): what its nodes and its chart let browsers have. */
import { isDeepStrictEqual } from "node:util";
import { namesLoopback } from "../../../platform/addresses/host-pattern.ts";
import type { Path } from "../../../platform/kinds/wire.ts";
import { problemAt, type SpecProblem } from "../../../platform/rules/problem.ts";
import type { BrowserPoolSpec } from "../pools/browser-pool.ts";
import type { LocationChange } from "./location.ts";

/**
 * A feature, as the setting BROWSERPOOL_BROWSER_FEATURES names it; an installation has `blob_store` when it has a
 * store, and `session_outcomes` when it lets sessions report what they reach.
 */
export type BrowserFeature =
  | "network"
  | "chrome_policy"
  | "loopback"
  | "memory_16GiB"
  | "gpu"
  | "blob_store"
  | "session_outcomes";

/** Of a pool, of an on-demand browser, or of one as a pool. */
type Settings = Partial<BrowserPoolSpec> & {
  gpu?: boolean | undefined;
  location?: LocationChange | undefined;
  savesProfile?: boolean | undefined;
  reportOutcome?: boolean | undefined;
  profile?: { saveChanges?: boolean } | undefined;
};

type Need = {
  key: keyof Settings;
  /** Where below the key; left out, the key itself. */
  at?(settings: Settings): Path;
  feature: BrowserFeature;
  needs(settings: Settings): boolean;
  why: string;
};

/** The place of the first private host that is on loopback; -1: there is none. */
const loopbackHost = ({ network }: Settings): number => (network?.privateHosts ?? []).findIndex(namesLoopback);

const noWall = "this installation has no network namespaces for browsers (browsers.sandbox of the chart): leave it out";

const needs: readonly Need[] = [
  { key: "network", feature: "network", needs: ({ network }) => network !== undefined, why: noWall },
  { key: "proxyId", feature: "network", needs: ({ proxyId }) => proxyId !== undefined, why: noWall },
  {
    key: "network",
    at: (settings) => ["network", "privateHosts", loopbackHost(settings)],
    feature: "loopback",
    needs: (settings) => loopbackHost(settings) >= 0,
    why: "loopback is not allowed: a browser's pod has nobody else's servers there, and browsers with network rules never reach it. Only local mode takes it. Name an address that pods reach",
  },
  {
    key: "chromePolicy",
    feature: "chrome_policy",
    needs: ({ chromePolicy, chromePolicyRef }) => chromePolicy !== undefined || chromePolicyRef !== undefined,
    why: "this installation has no folder of policies for each browser: leave it out",
  },
  {
    key: "location",
    at: () => ["location", "locale"],
    feature: "chrome_policy",
    needs: ({ location }) => typeof location?.locale === "string",
    why: "this installation has no folder of locales for each browser: leave it out; timezone holds without it",
  },
  {
    key: "memory",
    feature: "memory_16GiB",
    needs: ({ memory }) => memory === "16GiB",
    why: "this installation gives a browser 8GiB at most (browsers.memory.max of the chart)",
  },
  {
    key: "profile",
    feature: "blob_store",
    needs: ({ savesProfile, profile }) => savesProfile === true || profile?.saveChanges === true,
    why: "this installation has no store to save profiles to (BROWSERPOOL_BLOBS): leave save_changes out",
  },
  {
    key: "gpu",
    feature: "gpu",
    needs: ({ gpu }) => gpu === true,
    why: "this installation has no GPUs for browsers (browsers.gpu of the chart): leave it out",
  },
  {
    key: "reportOutcome",
    feature: "session_outcomes",
    needs: ({ reportOutcome }) => reportOutcome === true,
    why: "this installation takes no outcomes of sessions (registry.sessionOutcomes.enabled of the chart, BROWSERPOOL_SESSION_OUTCOMES): leave it out",
  },
];

/**
 * One problem for each setting that needs a feature which the installation lacks. What `before` has already is not
 * checked again.
 */
export const featureProblems = (
  settings: Settings,
  features: readonly BrowserFeature[],
  before: Settings = {},
): SpecProblem[] =>
  needs
    .filter(
      (need) =>
        !features.includes(need.feature) &&
        need.needs(settings) &&
        !(need.needs(before) && isDeepStrictEqual(before[need.key], settings[need.key])),
    )
    .map(({ key, at, why }) => problemAt(at?.(settings) ?? [key], why));
