import { type Console, readFittingFrom, saysSomething } from "./commands.ts";
import { fittingTests } from "./fitting/fitting-tests.ts";
import { keptMistakes } from "./kept-mistakes.ts";
import type { KeptMistake, Mutation } from "./mutation.ts";
import type { KeptOptions } from "./options.ts";
import { isAnswer, isUnnoticed, type Outcome } from "./outcome.ts";
import { listOf, type Result, tableByArea } from "./result-tables.ts";
import { runMutations } from "./run-mutations.ts";
import { selectMistakes } from "./select-mistakes.ts";
import { knownOutcomes, readRun, runPath, stored, writeRun } from "./stored-run.ts";

const path = runPath("kept");

/** Keeps one more result, and drops those of changes that there are no more. */
const keep = async (mistake: Mutation, outcome: Outcome): Promise<void> => {
  const knownOf = knownOutcomes(await readRun(path));
  const mutations = keptMistakes.map((one) =>
    one.name === mistake.name ? stored(one, outcome) : (knownOf(one) ?? stored(one)),
  );
  await writeRun(path, { mutations });
};

/** Mistakes that no test noticed, and that may not stay so. */
const missedIn = (results: readonly Result[]): KeptMistake[] => {
  const missed = new Set(results.filter(({ outcome }) => isUnnoticed(outcome)).map(({ mutation }) => mutation.name));
  return keptMistakes.filter(({ name, mayStay }) => missed.has(name) && mayStay === undefined);
};

/**
 * Tries kept mistakes, each with the test that noticed it, and with the others that fit when that one does not. Returns
 * the exit code.
 */
export const tryKept = async (options: KeptOptions, console: Console): Promise<number> => {
  const { say } = console;
  const knownOf = knownOutcomes(await readRun(path));
  const isAnswered = (mistake: KeptMistake): boolean => {
    const outcome = knownOf(mistake)?.outcome;
    return outcome !== undefined && isAnswer(outcome);
  };
  const mistakes = selectMistakes(options, isAnswered);
  if (options.sample !== undefined) say(`seed ${options.seed}`);
  if (mistakes.length === 0) {
    say("there is nothing to try");
    return 0;
  }
  const from = await readFittingFrom(options.budgetSeconds, console);
  const run = {
    ...console,
    atOnce: options.atOnce,
    onResult: keep,
    stepsOf: (mistake: KeptMistake) => {
      const { unit, others, seconds } = fittingTests(mistake, from);
      const first = mistake.foundBy ?? "";
      const besides = (files: string[]): string[] => files.filter((file) => file !== first);
      return [{ files: first === "" ? [] : [first] }, { files: besides(unit) }, { files: besides(others), seconds }];
    },
  };
  const results = await runMutations(mistakes, run);
  const missed = missedIn(results);
  // A mistake may need luck to be seen, such as a race: of a sample, once more before it counts as news.
  const isNews = options.sample === undefined || missedIn(await runMutations(missed, run)).length > 0;
  say(`\n${tableByArea(results, { isSample: false })}`);
  if (missed.length > 0) say(`\nnot noticed${isNews ? "" : " at the first try"}:\n\n${listOf(missed)}`);
  if (!saysSomething(results, console)) return 1;
  const isWell = missed.length === 0 || !isNews;
  return isWell && results.length === mistakes.length ? 0 : 1;
};
