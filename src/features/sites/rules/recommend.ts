/**
 * The answer of a lookup: which known configuration is recommended for a target, and which others work (LOOKUP-17 to
 * LOOKUP-25).
 *
 *   exact ──none eligible──► host ──none eligible──► domain ──none eligible──► null
 *     └───────────one eligible───────┴──────────────────┴──► recommended, the others of that scope behind it
 *
 * What the installation can't carry out counts for nothing. What a page's own trials refused is not recommended for it,
 * whatever its host and domain know. Where the caller's countries leave out all that is eligible, in every scope, the
 * answer is `proxy_restricted`.
 */

import type { ProxyType } from "../../proxies/proxy.ts";
import { type Evidence, type ManagedProxy, type Recipe, type SiteScope, siteScopes } from "../site-recipe.ts";
import { judged, recipeKey, successRate } from "./site.ts";
import type { Target } from "./target.ts";

/**
 * A configuration with all that is known of it. `decisive`: the counts that make it eligible or not
 * (session-evidence.ts). `isTried`: whether trials of an analysis were judged.
 */
export type Known = {
  recipe: Recipe;
  evidence: Evidence;
  decisive: Pick<Evidence, "accessed" | "blocked">;
  isTried: boolean;
};

/** What is known under one scope's value. */
export type Site = { known: readonly Known[]; guidance: string | undefined };

/** What a configuration needs to be recommended (LOOKUP-19). */
export type EligibleRules = { minTrials: number; minRate: number };

/**
 * `countries`: of managed proxies; undefined: any. `isPossible`: whether the installation can carry a configuration
 * out; left out: all.
 */
export type RecommendRules = EligibleRules & {
  countries: readonly string[] | undefined;
  isPossible?: (recipe: Recipe) => boolean;
};

/** `matched`: the value under which it is known. */
export type Working = Omit<Known, "decisive" | "isTried"> & { scope: SiteScope; matched: string };

/**
 * `working`: the recommended one first. `restricted`: the countries of what only `countries` leaves out; else empty.
 */
export type Outcome = { working: Working[]; restricted: string[]; guidance: string | undefined };

/** Cheaper before dearer. */
const costs: Record<ProxyType | "direct", number> = {
  direct: 0,
  datacenter: 1,
  isp: 2,
  residential: 3,
  mobile: 4,
  custom: 5,
};

const anyCountry = "any country";

/** The country of a managed proxy; proxies of some types have one by default (LOOKUP-41, LOOKUP-42). */
const countryOf = ({ type, isp, datacenter, residential, mobile }: ManagedProxy): string => {
  if (type === "isp") return isp?.country ?? "US";
  if (type === "datacenter") return datacenter?.country ?? "US";
  return (type === "residential" ? residential : mobile)?.country ?? anyCountry;
};

/** Whether the countries allow the proxy of a configuration. */
export const isAllowed = ({ proxy }: Recipe, countries: readonly string[] | undefined): boolean =>
  proxy === undefined || countries === undefined || countries.includes(countryOf(proxy));

/** Whether the evidence is enough to recommend the configuration. */
export const isEligible = (
  evidence: Pick<Evidence, "accessed" | "blocked">,
  { minTrials, minRate }: EligibleRules,
): boolean => judged(evidence) >= minTrials && successRate(evidence) >= minRate;

/** Without the configurations that the target's own trials refused. `exact`: what is known of the target itself. */
const withoutRefused = (known: Known[], exact: Site | undefined, { minRate }: EligibleRules): Known[] => {
  const refused = exact?.known.filter(({ isTried, decisive }) => isTried && successRate(decisive) < minRate) ?? [];
  if (known.length === 0 || refused.length === 0) return known;
  const keys = new Set(refused.map(({ recipe }) => recipeKey(recipe)));
  return known.filter(({ recipe }) => !keys.has(recipeKey(recipe)));
};

/** What a browser costs: a screen more than none, a GPU more than both. */
const effort = ({ browser }: Recipe): number =>
  Number(browser.gpu) * 4 + Number(!browser.headless) * 2 + Number(browser.stealth);

/** What is tried first, and what wins among equals. */
export const cheaper = (a: Recipe, b: Recipe): number =>
  costs[a.proxy?.type ?? "direct"] - costs[b.proxy?.type ?? "direct"] || effort(a) - effort(b);

type Shown = Pick<Known, "recipe" | "evidence">;

const better = (a: Shown, b: Shown): number =>
  successRate(b.evidence) - successRate(a.evidence) ||
  judged(b.evidence) - judged(a.evidence) ||
  cheaper(a.recipe, b.recipe) ||
  (recipeKey(a.recipe) < recipeKey(b.recipe) ? -1 : 1);

/** Configurations in the order in which a lookup prefers them, whether they are eligible or not. */
export const bestFirst = <One extends Shown>(known: readonly One[]): One[] => known.toSorted(better);

/** Names of a target in each scope. */
export const valuesOf = ({ normalized, host, domain }: Target): Record<SiteScope, string> => ({
  exact: normalized,
  host,
  domain,
});

/** `find`: what is known under a scope's value, e.g. `host` and `www.example.com`. */
export const recommend = (
  target: Target,
  find: (scope: SiteScope, value: string) => Site | undefined,
  rules: RecommendRules,
): Outcome => {
  const values = valuesOf(target);
  const sites = siteScopes.map((scope) => ({ scope, matched: values[scope], site: find(scope, values[scope]) }));
  const guidance = sites.find(({ site }) => site?.guidance !== undefined)?.site?.guidance;
  const restricted = new Set<string>();
  for (const { scope, matched, site } of sites) {
    const enough = (site?.known ?? []).filter(
      ({ decisive, recipe }) => isEligible(decisive, rules) && (rules.isPossible?.(recipe) ?? true),
    );
    // What is eligible for the target itself, it has not refused, so no keys are hashed for it.
    const eligible = scope === "exact" ? enough : withoutRefused(enough, sites[0]?.site, rules);
    const working = bestFirst(eligible.filter(({ recipe }) => isAllowed(recipe, rules.countries)));
    if (working.length > 0)
      return { working: working.map((known) => ({ ...known, scope, matched })), restricted: [], guidance };
    for (const { recipe } of eligible) if (recipe.proxy) restricted.add(countryOf(recipe.proxy));
  }
  return { working: [], restricted: [...restricted].sort(), guidance };
};
