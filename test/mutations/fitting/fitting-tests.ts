/** Which tests fit a mutation. */
import type { SourcePatch } from "../../robustness/hook/source-patch.ts";
import { loadedBy } from "../../support/import-graph.ts";
import { hitsOfMutation, isNoting, readersOf } from "./hits.ts";
import type { Coverage } from "./measured-coverage.ts";

/** What a file costs beside its tests, s: it is loaded, and starts some of its own. */
const startSeconds = 2;

/** Whether a test file is one of those that need no server. */
export const isUnitTest = (file: string): boolean => !file.startsWith("test/");

/** Test files in the order in which they run. `seconds`: what the others took when they were measured. */
type Fitting = { unit: string[]; others: string[]; seconds: number };

/** `tests`: all unit tests of the tree. `budgetSeconds`: for the other tests together, 0 for none. */
export type FittingFrom = { coverage: Coverage; tests: readonly string[]; budgetSeconds: number };

type Measured = { file: string; seconds: number; share: number };

/**
 * The measured tests that run the place of the mutation. Of a function that has changed since, which nothing is known
 * to run, those that run anything of its file. The larger the share that the file has of all that a test runs, the more
 * that test is about it.
 */
const measuredFitting = (patch: SourcePatch, coverage: Coverage): Measured[] => {
  const wanted = new Set(hitsOfMutation(patch));
  const isOfFile = (hit: string): boolean => hit.startsWith(`${patch.file}#`);
  const isNear = (hit: string): boolean => wanted.has(hit) || isOfFile(hit);
  const tests = Object.entries(coverage);
  const running = (isMeant: (hit: string) => boolean): Measured[] =>
    tests
      .filter(([, { hits }]) => hits.some(isMeant))
      .map(([file, { seconds, hits }]) => ({ file, seconds, share: hits.filter(isNear).length / hits.length }));
  const exact = running((hit) => wanted.has(hit));
  return (exact.length > 0 ? exact : running(isOfFile)).toSorted((a, b) => b.share - a.share);
};

/**
 * The unit tests that load the file of the mutation, or what reads it; those with the fewest imports between come
 * first.
 */
const importing = ({ file }: SourcePatch, tests: readonly string[]): string[] => {
  const targets = (isNoting(file) || file.endsWith(".mjs") ? [file] : readersOf(file)).map((one) => `src/${one}`);
  const found = tests.flatMap((test) => {
    const loaded = loadedBy(test);
    const distance = Math.min(...targets.map((target) => loaded.get(target) ?? Number.POSITIVE_INFINITY));
    return Number.isFinite(distance) ? [{ test, distance }] : [];
  });
  return found.toSorted((a, b) => a.distance - b.distance).map(({ test }) => test);
};

/** As many as the budget has room for; when none has, the shortest. */
const within = (budgetSeconds: number, tests: readonly Measured[]): Measured[] => {
  const cost = ({ seconds }: Measured): number => seconds + startSeconds;
  let left = budgetSeconds;
  const chosen = tests.filter((test) => {
    if (cost(test) > left) return false;
    left -= cost(test);
    return true;
  });
  if (chosen.length > 0 || budgetSeconds === 0) return chosen;
  return tests.toSorted((a, b) => cost(a) - cost(b)).slice(0, 1);
};

/**
 * The test files for a mutation: unit tests that were not measured by what they import, all others by what they were
 * measured to run. Scripts in Redis run in no unit test.
 */
export const fittingTests = (patch: SourcePatch, { coverage, tests, budgetSeconds }: FittingFrom): Fitting => {
  const measured = measuredFitting(patch, coverage);
  const unmeasured = patch.file.endsWith(".lua")
    ? []
    : importing(
        patch,
        tests.filter((file) => !coverage[file]),
      );
  const others = within(
    budgetSeconds,
    measured.filter(({ file }) => !isUnitTest(file)),
  );
  return {
    unit: [...measured.map(({ file }) => file).filter(isUnitTest), ...unmeasured],
    others: others.map(({ file }) => file),
    seconds: others.reduce((sum, { seconds }) => sum + seconds, 0),
  };
};
