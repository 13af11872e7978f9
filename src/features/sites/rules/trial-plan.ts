/**
 * Which trial comes next in an analysis, and what came of it. Pure: the trials so far decide, so an analysis goes on
 * where it was.
 *
 *   candidates, cheapest first ──► of each as many trials as it takes to decide:
 *
 *     works         enough trials, and enough of them reached the site ──► the analysis ends: what is left costs more
 *     blocked       too many were refused for it ever to be enough
 *     inconclusive  trials say nothing, e.g. since the proxy is down
 */
import { type AnalysisOutcome, maxTrials, type Trial } from "../analyses/site-analysis.ts";
import { type ManagedProxy, maxGuidance, type Recipe } from "../site-recipe.ts";
import { cheaper, type EligibleRules, isAllowed, isEligible } from "./recommend.ts";
import { type RunResult, recipeKey } from "./site.ts";

/** `proxies`: those that an installation tries, besides none. */
export type PlanRules = EligibleRules & { proxies: readonly ManagedProxy[]; countries: readonly string[] | undefined };

type NextStep = { do: "try"; recipe: Recipe } | { do: "end"; outcome: AnalysisOutcome; message: string };

type Counts = { accessed: number; blocked: number; inconclusive: number };
type Standing = "open" | "works" | "blocked" | "inconclusive";

const viewport = { width: 1920, height: 1080 };

/** Judged trials of one configuration beyond those that are needed: one bad moment of a site need not decide. */
const spareTrials = 2;

/**
 * Trials that say nothing before a configuration is given up: of one that reached the site already, of others, and of
 * one like that.
 */
const patience = { reached: 4, unknown: 2, again: 1 };

/** The configurations that are tried, in their order. */
export const candidates = ({ proxies, countries }: PlanRules): Recipe[] =>
  [undefined, ...proxies]
    .flatMap((proxy) =>
      [true, false].flatMap((headless) =>
        [false, true].map((stealth) => ({
          browser: { stealth, headless, gpu: false, viewport },
          ...(proxy && { proxy }),
        })),
      ),
    )
    .filter((recipe) => isAllowed(recipe, countries))
    .sort(cheaper);

const countsOf = (trials: readonly Trial[]): Counts => {
  const count = (verdict: Trial["verdict"]): number => trials.filter((trial) => trial.verdict === verdict).length;
  return { accessed: count("accessed"), blocked: count("blocked"), inconclusive: count("inconclusive") };
};

const standingOf = (counts: Counts, { minTrials, minRate }: EligibleRules, patienceLeft: number): Standing => {
  const { accessed, blocked, inconclusive } = counts;
  const most = minTrials + spareTrials;
  if (isEligible(counts, { minTrials, minRate })) return "works";
  if (blocked > most * (1 - minRate) || accessed + blocked >= most) return "blocked";
  return inconclusive >= patienceLeft ? "inconclusive" : "open";
};

const proxyKey = ({ proxy }: Recipe): string => (proxy ? recipeKey({ browser: nothing, proxy }) : "");
const nothing: Recipe["browser"] = { stealth: false, headless: false, gpu: false, viewport };

const percent = (share: number): string => `${Math.round(share * 100)} %`;

const messages: Record<AnalysisOutcome, string> = {
  recommendation: "a configuration reached the site",
  target_not_evaluable: "no trial could tell whether the site lets a browser in",
  no_working_configuration: "the site refused every configuration",
  inconclusive: "no configuration reached the site often enough, and not all could be judged",
};

const commonReason = (trials: readonly Trial[]): string => {
  const byReason = Map.groupBy(trials, ({ reason }) => reason);
  const [reason = "none", its = []] = [...byReason].sort(([, a], [, b]) => b.length - a.length)[0] ?? [];
  return trials.length === 0
    ? "there was none"
    : `most often: ${reason}, ${percent(its.length / trials.length)} of ${trials.length}`;
};

const ended = (outcome: AnalysisOutcome, trials: readonly Trial[]): NextStep => ({
  do: "end",
  outcome,
  message: `${messages[outcome]} (${commonReason(trials)})`,
});

/** How each configuration stands, in their order. */
function* standings(trials: readonly Trial[], rules: PlanRules): Iterable<{ recipe: Recipe; standing: Standing }> {
  const byRecipe = Map.groupBy(trials, recipeKey);
  /** Ways, and reasons for which trials on them said nothing: another browser on the same way is not asked as often. */
  const dead = new Set<string>();
  for (const recipe of candidates(rules)) {
    const own = byRecipe.get(recipeKey(recipe)) ?? [];
    const counts = countsOf(own);
    const key = `${proxyKey(recipe)} ${own.findLast(({ verdict }) => verdict === "inconclusive")?.reason}`;
    const unknown = dead.has(key) ? patience.again : patience.unknown;
    const standing = standingOf(counts, rules, counts.accessed > 0 ? patience.reached : unknown);
    if (standing === "inconclusive") dead.add(key);
    yield { recipe, standing };
  }
}

/** What to do after these trials. */
export const nextStep = (trials: readonly Trial[], rules: PlanRules): NextStep => {
  let isUndecided = false;
  for (const { recipe, standing } of standings(trials, rules)) {
    if (standing === "works") return ended("recommendation", trials);
    if (standing === "open" && trials.length < maxTrials) return { do: "try", recipe };
    isUndecided ||= standing !== "blocked";
  }
  if (!trials.some(({ verdict }) => verdict !== "inconclusive")) return ended("target_not_evaluable", trials);
  return ended(isUndecided ? "inconclusive" : "no_working_configuration", trials);
};

/** What a run adds to the evidence. */
export const runResults = (trials: readonly Trial[], rules: EligibleRules): RunResult[] =>
  [...Map.groupBy(trials, recipeKey).values()].flatMap((own) => {
    const [first] = own;
    if (!first) return [];
    const counts = countsOf(own);
    const observedAt =
      own
        .map(({ startedAt }) => startedAt)
        .toSorted()
        .at(-1) ?? first.startedAt;
    const { browser, proxy } = first;
    return [{ browser, ...(proxy && { proxy }), ...counts, observedAt, supports: isEligible(counts, rules) }];
  });

/**
 * What trials saw that others should know, as a Markdown list; undefined when nothing was seen. `sentences`: by note.
 * What the pages say is not in it.
 */
export const guidanceOf = (
  trials: readonly Trial[],
  sentences: Readonly<Record<string, string>>,
): string | undefined => {
  const seen = [...new Set(trials.flatMap(({ notes }) => notes))].flatMap((note) => sentences[note] ?? []);
  return seen.length === 0
    ? undefined
    : seen
        .map((sentence) => `- ${sentence}`)
        .join("\n")
        .slice(0, maxGuidance);
};
