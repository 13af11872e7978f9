/** What the commands of `npm run test:mutations` have in common. */

import { quickTests, slowTests } from "../runner/test-files.ts";
import { type FittingFrom, isUnitTest } from "./fitting/fitting-tests.ts";
import { readCoverage } from "./fitting/measured-coverage.ts";
import { isAnswer } from "./outcome.ts";
import type { Result } from "./result-tables.ts";

/** `say`: prints a line. `signal`: aborts when the run is ended by hand. */
export type Console = { say: (text: string) => void; signal: AbortSignal };

/** All test files, by path in the tree. */
export const testFiles = (): string[] => [...quickTests(), ...slowTests()];

/** What fitting tests are found by. Says how much of it is known. */
export const readFittingFrom = async (budgetSeconds: number, { say }: Console): Promise<FittingFrom> => {
  const coverage = budgetSeconds === 0 ? {} : await readCoverage();
  const files = testFiles();
  const others = files.filter((file) => !isUnitTest(file));
  const unknown = others.filter((file) => !coverage[file]).length;
  if (budgetSeconds === 0) say("unit tests alone");
  else if (unknown > 0)
    say(
      `of ${others.length} test files that are no unit tests, ${unknown} were not measured and are left out: --find-tests`,
    );
  return { coverage, tests: files.filter(isUnitTest), budgetSeconds };
};

/** Whether a run says anything at all. */
export const saysSomething = (results: readonly Result[], { say }: Console): boolean => {
  if (results.some(({ outcome }) => isAnswer(outcome))) return true;
  say("no mistake came to an answer: do the tests run here?");
  return false;
};
