/**
 * How the unattended run goes by what it finds:
 *
 *   a violation of a safety check   ends the run at once, and fails it
 *   one of a timing check           its history runs once more, from the same seed; what is found then fails the run, whatever
 *                                   it is. When nothing is found, the run only tells of the first time
 */
import type { Finding } from "./checks/all-checks.ts";
import type { HistoryRequest, HistoryResult, RunResults } from "./run-histories.ts";

/** What passed at its second try. `firstError`: what the first one found. */
export type Unsteady = { name: string; firstError: string };

export type Outcome = {
  /** Of all histories, those of a second try last. */
  results: HistoryResult[];
  /** Those of them that fail the run. */
  failed: HistoryResult[];
  /** Growth that fails the run. */
  growth: Finding[];
  unsteady: Unsteady[];
};

export const isUnsafe = ({ findings }: HistoryResult): boolean => findings.some(({ kind }) => kind === "safety");

const hasFindings = ({ findings }: HistoryResult): boolean => findings.length > 0;

const unsteadyOf = ({ seed, findings }: HistoryResult): Unsteady => ({
  name: `robustness: ${[...new Set(findings.map(({ check }) => check))].join(", ")} with seed ${seed}`,
  firstError: findings[0]?.what ?? "",
});

const growthOf = ({ check, what }: Finding): Unsteady => ({ name: `robustness: ${check}`, firstError: what });

type SecondTryOptions = {
  /** Runs histories, and ends early when one of them is unsafe. */
  run: (requests: HistoryRequest[]) => Promise<RunResults>;
  /** Asked once, before a second try; it tells people of these requests. */
  mayTryAgain: (requests: HistoryRequest[]) => boolean;
};

/** Growth shows only over all histories, so for growth all of them run again. */
export const runWithSecondTry = async (
  requests: HistoryRequest[],
  { run, mayTryAgain }: SecondTryOptions,
): Promise<Outcome> => {
  const { results, growth } = await run(requests);
  const failed = results.filter(hasFindings);
  const again =
    growth.length > 0 ? requests : requests.filter(({ seed }) => failed.some((result) => result.seed === seed));
  const isOver = failed.some(isUnsafe) || results.length < requests.length;
  if (isOver || again.length === 0 || !mayTryAgain(again)) return { results, failed, growth, unsteady: [] };
  const second = await run(again);
  const failedAgain = second.results.filter(hasFindings);
  const passes = ({ seed }: HistoryResult): boolean =>
    second.results.some((result) => result.seed === seed && !hasFindings(result));
  return {
    results: [...results, ...second.results],
    // One that the second try did not come to has only its first result.
    failed: [...failed.filter(({ seed }) => !second.results.some((result) => result.seed === seed)), ...failedAgain],
    growth: second.growth,
    unsteady: [...failed.filter(passes).map(unsteadyOf), ...(second.growth.length === 0 ? growth.map(growthOf) : [])],
  };
};
