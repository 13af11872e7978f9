/** One site of the local internet: what an analysis of it has to find out, and how a test sees that it does. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect } from "vitest";
import type { LookupAnswer, SiteAnswer } from "../../../../src/features/sites/site-wire.ts";
import {
  type Analyses,
  type AnalysesOptions,
  analyzedWithinMs,
  nameOf,
  type ReadAnalysis,
  startAnalyses,
  trialCounts,
} from "./analyses-stack.ts";

/**
 * `trials`: how often each configuration is tried, and what comes of it. `recommended`: a configuration in words; null:
 * none. `guidance`: the words that its sentences begin with.
 */
export type SiteCase = {
  site: string;
  path?: string;
  countries?: string[];
  outcome: NonNullable<ReadAnalysis["outcome"]>;
  recommended: string | null;
  trials: Record<string, number>;
  guidance?: string[];
};

/** Configurations without a proxy, in the order in which they are tried. */
export const direct = ["headless direct", "headless stealth direct", "headful direct", "headful stealth direct"];

/** The same through proxies of a type. */
export const through = (type: string): string[] => direct.map((name) => name.replace("direct", type));

/**
 * Each of these configurations was refused as often as it takes to give it up: two of at most five trials are too many.
 */
export const refused = (names: readonly string[], reason: string): Record<string, number> =>
  Object.fromEntries(names.map((name) => [`${name} blocked ${reason}`, 2]));

/** None of these configurations of one way could be judged: after the first one each is tried once. */
export const unclear = (names: readonly string[], reason: string): Record<string, number> =>
  Object.fromEntries(names.map((name, index) => [`${name} inconclusive ${reason}`, index === 0 ? 2 : 1]));

/** This configuration reached the site as often as it takes to recommend it. */
export const reached = (name: string, reason = "ordinary"): Record<string, number> => ({
  [`${name} accessed ${reason}`]: 3,
});

/** What was seen of an analysis. `states`: of the analysis. `during`: answers of lookups while it ran. */
export type Seen = {
  before: LookupAnswer;
  states: Set<string>;
  during: LookupAnswer[];
  done: ReadAnalysis;
  after: LookupAnswer;
};

/** Between two looks at an analysis, ms: the shortest state of one lasts seconds. */
const lookEveryMs = 300;

const restricted = ({ countries }: SiteCase): object => (countries ? { allowed_proxy_countries: countries } : {});

/** Has a site analyzed, and looks it up before, during and after. */
const analyze = async (analyses: Analyses, wanted: SiteCase): Promise<Seen> => {
  const { lookup, resolve, analysis, internet } = analyses;
  const url = internet.url(wanted.site, wanted.path);
  const before = await lookup(url);
  const { analysis: begun, recommendation, target } = await resolve(url, restricted(wanted));
  expect({ recommendation, target }).toEqual({ recommendation: before.recommendation, target: before.target });
  const states = new Set<string>();
  const during: LookupAnswer[] = [];
  const untilMs = performance.now() + 2 * analyzedWithinMs;
  for (;;) {
    const now = await analysis(begun.id);
    states.add(now.status);
    if (now.finished_at !== null) return { before, states, during, done: now, after: await lookup(url) };
    if (performance.now() > untilMs) throw new Error(`${url} is not analyzed: ${JSON.stringify(now)}`);
    during.push(await lookup(url));
    await sleep(lookEveryMs);
  }
};

type Counts = { accessed: number; blocked: number; inconclusive: number };
const noCounts: Counts = { accessed: 0, blocked: 0, inconclusive: 0 };

/** The trials of each configuration by their verdicts. */
const evidenceOf = ({ trials }: SiteCase): Record<string, Counts> => {
  const found: Record<string, Counts> = {};
  for (const [what, count] of Object.entries(trials)) {
    const words = what.split(" ");
    const name = words.slice(0, -2).join(" ");
    const counts = found[name] ?? { ...noCounts };
    counts[words.at(-2) as keyof Counts] += count;
    found[name] = counts;
  }
  return found;
};

/** What the registry lists of one scope of a site, by configuration. */
export const listedEvidence = async (
  { call }: Analyses,
  scope: SiteAnswer["scope"],
  value: string,
): Promise<Record<string, Counts>> => {
  const sites = await call<SiteAnswer[]>("GET", `/config-registry/sites?limit=100&query=${encodeURIComponent(value)}`);
  const site = sites.find((one) => one.scope === scope && one.target === value);
  const known = (site?.configurations ?? []).map(({ evidence: { accessed, blocked, inconclusive }, ...tried }) => [
    nameOf(tried),
    { accessed, blocked, inconclusive },
  ]);
  return Object.fromEntries(known);
};

const headings = (guidance: string | null | undefined): string[] =>
  [...(guidance ?? "").matchAll(/^- \*\*([^*]+)\*\*/gm)].map(([, heading = ""]) => heading);

const expectRecommended = (answer: LookupAnswer, wanted: SiteCase, scope: string, matched: string): void => {
  const { recommendation, working_configurations: working } = answer;
  if (wanted.recommended === null) {
    expect([recommendation, working]).toEqual([null, []]);
    return;
  }
  const counts = evidenceOf(wanted)[wanted.recommended] ?? noCounts;
  const judged = counts.accessed + counts.blocked;
  expect(recommendation).toMatchObject({
    type: "recommendation",
    match_scope: scope,
    matched_target: matched,
    evidence: { ...counts, sample_size: judged, success_rate: counts.accessed / judged, run_count: 1 },
  });
  expect(working.map(nameOf)).toEqual([wanted.recommended]);
  expect(working[0]).toEqual(recommendation);
};

/**
 * Checks all that is known of a site whose host was never asked for before: the analysis, the evidence and the lookups
 * before, during and after, also of another page and of another host of its domain.
 */
const expectFound = async (analyses: Analyses, wanted: SiteCase, seen: Seen): Promise<void> => {
  const { before, states, during, done, after } = seen;
  const { host, domain, normalized } = done.target;
  expect([before.recommendation, before.working_configurations, before.guidance]).toEqual([null, [], null]);
  expect(states).toContain("running");
  // Its evidence counts a moment before its end is told.
  for (const answer of during) expect([null, after.recommendation]).toContainEqual(answer.recommendation);
  expect(during[0]?.recommendation).toBeNull();
  expect(trialCounts(done)).toEqual(wanted.trials);
  expect(done).toMatchObject({ status: "completed", outcome: wanted.outcome, run: 1 });
  expectRecommended(after, wanted, "exact", normalized);
  expect(headings(after.guidance)).toEqual(wanted.guidance ?? []);
  expect(await listedEvidence(analyses, "exact", normalized)).toEqual(evidenceOf(wanted));
  const port = new URL(normalized).port;
  const elsewhere = (name: string): Promise<LookupAnswer> => analyses.lookup(`http://${name}:${port}/quite/another`);
  expectRecommended(await elsewhere(host), wanted, "host", host);
  expectRecommended(await elsewhere(`shop.${host}`), wanted, "domain", domain);
};

type Row = { wanted: SiteCase; seen: Seen };

const cells = ({ wanted, seen: { done, after } }: Row): string[] => {
  const { recommendation } = after;
  const evidence = recommendation?.type === "recommendation" ? recommendation.evidence : undefined;
  const reasons = [...new Set(done.trials.map(({ verdict, reason }) => `${verdict}: ${reason}`))];
  return [
    wanted.site + (wanted.path ?? ""),
    done.outcome ?? "",
    recommendation?.type === "recommendation" ? nameOf(recommendation) : "none",
    `${done.trials.length}`,
    evidence ? `${evidence.accessed} of ${evidence.sample_size}` : "",
    reasons.join(", "),
    headings(after.guidance).join(", "),
  ];
};

/** Prints what was found, a line a site. */
const printTable = (rows: readonly Row[]): void => {
  const head = ["site", "outcome", "recommended", "trials", "evidence", "verdicts and reasons", "guidance"];
  const lines = [head, ...rows.map(cells)].map((line) => `| ${line.join(" | ")} |`);
  process.stdout.write(`${lines.join("\n")}\n`);
};

/** The sites that a file of tests has analyzed. */
type AnalyzedSites = {
  /** Local mode and the local internet; not before the first test. */
  analyses(): Analyses;
  /** Has a site analyzed, and looks it up before, during and after. */
  analyze(wanted: SiteCase): Promise<Seen>;
  /** The same, and checks all that is known of it then (`expectFound`). */
  expectFound(wanted: SiteCase): Promise<void>;
};

/** For the analysis of a site and the one that it may wait for, ms. */
export const siteTestMs = 3 * analyzedWithinMs;

/** Starts local mode before the tests of a file, and prints a table of the sites at their end. */
export const analyzedSites = (optionsOf: () => AnalysesOptions | Promise<AnalysesOptions>): AnalyzedSites => {
  let analyses: Analyses;
  const rows: Row[] = [];
  beforeAll(async () => {
    analyses = await startAnalyses(await optionsOf());
  });
  afterAll(async () => {
    printTable(rows);
    await analyses?.[Symbol.asyncDispose]();
  });
  const analyzed = async (wanted: SiteCase): Promise<Seen> => {
    const seen = await analyze(analyses, wanted);
    rows.push({ wanted, seen });
    return seen;
  };
  return {
    analyses: () => analyses,
    analyze: analyzed,
    expectFound: async (wanted) => expectFound(analyses, wanted, await analyzed(wanted)),
  };
};
