/**
 * What the registry knows of one site, and how knowledge is added up. Counts are kept for each origin (an installation)
 * and source (trials, sessions, YAML) apart and only rise there. So knowledge that comes twice, by whatever way, counts
 * once: of two counts of one origin and source the larger one holds.
 */

import { stableHash } from "../../../platform/rules/stable-hash.ts";
import { maxOrigins, maxRecentRuns, type OriginEvidence, type RecentRun, type SiteLine } from "../site-evidence.ts";
import { type Evidence, maxConfigurations, type Recipe } from "../site-recipe.ts";

type Known = SiteLine["configurations"][number];

/** What one run found of one configuration. `supports`: whether it alone was enough to recommend it. */
export type RunResult = Recipe & {
  accessed: number;
  blocked: number;
  inconclusive: number;
  observedAt: string;
  supports: boolean;
};

/** Trials that were judged: the inconclusive ones say nothing (LOOKUP-31). */
export const judged = ({ accessed, blocked }: Pick<Evidence, "accessed" | "blocked">): number => accessed + blocked;

/** 0 to 1; 0 without judged trials. */
export const successRate = (evidence: Pick<Evidence, "accessed" | "blocked">): number =>
  evidence.accessed / (judged(evidence) || 1);

const usDefault = { country: "US" } as const;

/** With what the types of proxies have by default, so that every spelling of a configuration is one text. */
export const spelledOut = ({ browser, proxy }: Recipe): Recipe => {
  if (proxy?.type === "isp") return { browser, proxy: { ...proxy, isp: proxy.isp ?? usDefault } };
  if (proxy?.type === "datacenter") return { browser, proxy: { ...proxy, datacenter: proxy.datacenter ?? usDefault } };
  return { browser, ...(proxy && { proxy }) };
};

/** Equal for configurations that are the same. */
export const recipeKey = (recipe: Recipe): string => stableHash(spelledOut(recipe));

const latest = (a: string | undefined, b: string | undefined): string | undefined =>
  a === undefined || (b !== undefined && Date.parse(b) > Date.parse(a)) ? b : a;

/** Counts by `combine`, times by the latest. */
const combined = (a: Evidence, b: Evidence, combine: (a: number, b: number) => number): Evidence => {
  const supportedAt = latest(a.lastSupportedAt, b.lastSupportedAt);
  return {
    accessed: combine(a.accessed, b.accessed),
    blocked: combine(a.blocked, b.blocked),
    inconclusive: combine(a.inconclusive, b.inconclusive),
    runCount: combine(a.runCount, b.runCount),
    lastObservedAt: latest(a.lastObservedAt, b.lastObservedAt) ?? a.lastObservedAt,
    ...(supportedAt !== undefined && { lastSupportedAt: supportedAt }),
  };
};

/** The latest runs of both; a run that both have is one. */
const recentOf = (a: OriginEvidence, b: OriginEvidence): Pick<OriginEvidence, "recent"> => {
  const runs = joined<RecentRun>(
    a.recent ?? [],
    b.recent ?? [],
    ({ at }) => at,
    (run) => run,
  );
  const recent = newestFirst(runs, ({ at }) => at).slice(0, maxRecentRuns);
  return recent.length > 0 ? { recent } : {};
};

const plus = (a: number, b: number): number => a + b;

/** Evidence with where it comes from, which decides how it adds up. */
export type SourcedEvidence = Evidence & Pick<OriginEvidence, "source" | "recent">;

/** The latest runs of all origins and sources, oldest first. */
export const recentRuns = (evidence: readonly SourcedEvidence[]): RecentRun[] =>
  evidence.flatMap(({ recent = [] }) => recent).sort((a, b) => Date.parse(a.at) - Date.parse(b.at));

/**
 * All evidence of one configuration; undefined of none. Counts of different origins add up. What people give is one
 * statement, which several clusters may repeat: of those the one with the most judged trials counts.
 */
export const totalOf = (evidence: readonly SourcedEvidence[]): Evidence | undefined => {
  const given = evidence.filter(({ source }) => source === "given").sort((a, b) => judged(b) - judged(a));
  const counted = [...evidence.filter(({ source }) => source !== "given"), ...given.slice(0, 1)];
  return counted
    .map(countsOf)
    .reduce<Evidence | undefined>((sum, each) => (sum ? combined(sum, each, plus) : each), undefined);
};

/** Without its origin. */
const countsOf = ({
  accessed,
  blocked,
  inconclusive,
  runCount,
  lastObservedAt,
  lastSupportedAt,
}: Evidence): Evidence => ({
  accessed,
  blocked,
  inconclusive,
  runCount,
  lastObservedAt,
  ...(lastSupportedAt !== undefined && { lastSupportedAt }),
});

/** Entries by key; entries of both sides are joined. */
const joined = <T>(a: readonly T[], b: readonly T[], keyOf: (entry: T) => string, join: (a: T, b: T) => T): T[] => {
  const entries = new Map(a.map((entry) => [keyOf(entry), entry]));
  for (const entry of b) {
    const known = entries.get(keyOf(entry));
    entries.set(keyOf(entry), known === undefined ? entry : join(known, entry));
  }
  return [...entries.values()];
};

const newestFirst = <T>(entries: T[], timeOf: (entry: T) => string | undefined): T[] =>
  entries.sort((a, b) => Date.parse(timeOf(b) ?? "1970-01-01") - Date.parse(timeOf(a) ?? "1970-01-01"));

const observedAt = ({ evidence }: Known): string | undefined => totalOf(evidence)?.lastObservedAt;

/** When anything was last observed at a site; undefined: never. */
export const lastObserved = ({ configurations }: SiteLine): string | undefined =>
  newestFirst([...configurations], observedAt)
    .map(observedAt)
    .at(0);

/** Keeps the bounds of a site: what was observed last stays. */
const bounded = (site: SiteLine): SiteLine => ({
  ...site,
  configurations: newestFirst(site.configurations, observedAt)
    .slice(0, maxConfigurations)
    .map((known) => ({
      ...known,
      // Of each source: what sessions find takes no room of what decides.
      evidence: newestFirst(known.evidence, ({ lastObservedAt }) => lastObservedAt).filter(
        ({ source }, index, all) => all.slice(0, index).filter((one) => one.source === source).length < maxOrigins,
      ),
    })),
});

const originKey = ({ origin, source }: OriginEvidence): string => `${origin} ${source}`;

const joinSites = (
  a: SiteLine,
  b: SiteLine,
  join: (a: OriginEvidence, b: OriginEvidence) => OriginEvidence,
): SiteLine => {
  const guidance = b.guidance ?? a.guidance;
  return bounded({
    scope: a.scope,
    target: a.target,
    configurations: joined(a.configurations, b.configurations, recipeKey, (known, more) => ({
      ...known,
      evidence: joined(known.evidence, more.evidence, originKey, join),
    })),
    ...(guidance !== undefined && { guidance }),
  });
};

/**
 * Two copies of what is known of one site. The same again changes nothing, in any order; `b` has the guidance, if it
 * has any.
 */
export const mergeSites = (a: SiteLine, b: SiteLine): SiteLine =>
  joinSites(a, b, (x, y) => ({ ...x, ...combined(x, y, Math.max), ...recentOf(x, y) }));

/** Who counts, what is counted, and when it was seen. `guidance`: undefined leaves what there is. */
export type Run = {
  origin: string;
  source: OriginEvidence["source"];
  results: readonly RunResult[];
  guidance: string | undefined;
};

const lineOf = (
  { scope, target }: Pick<SiteLine, "scope" | "target">,
  { origin, source, results, guidance }: Run,
): SiteLine => ({
  scope,
  target,
  configurations: results.map(({ browser, proxy, observedAt: at, supports, ...counts }) => ({
    ...spelledOut({ browser, ...(proxy && { proxy }) }),
    evidence: [
      {
        origin,
        source,
        ...counts,
        runCount: 1,
        lastObservedAt: at,
        ...(supports && { lastSupportedAt: at }),
        ...(judged(counts) > 0 && { recent: [{ at, accessed: counts.accessed, blocked: counts.blocked }] }),
      },
    ],
  })),
  ...(guidance !== undefined && { guidance }),
});

/** Adds what a run found. The caller sees to it that no run is added twice. */
export const addRun = (site: SiteLine | undefined, place: Pick<SiteLine, "scope" | "target">, run: Run): SiteLine =>
  joinSites(site ?? { ...place, configurations: [] }, lineOf(place, run), (x, y) => ({
    ...x,
    ...combined(x, y, plus),
    ...recentOf(x, y),
  }));
