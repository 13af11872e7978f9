/** Whether the tests notice a mistake. */
import { isUnitTest } from "./fitting/fitting-tests.ts";
import type { Mutation } from "./mutation.ts";
import { type FailedTest, runTests, type TestsEnd } from "./run-tests.ts";
import type { Tree } from "./tree.ts";

/** `by`: the test that failed, as `FILE: NAME`. `unsteady`: it failed without the mistake, too, and no other one did with it. */
export type Outcome = { name: string; seconds: number } & (
  | { found: "unit" | "integration"; by: string; error: string }
  | { found: "no"; why: "no test fits" | "tests pass" | "unsteady" | "time is over" }
);

/** Whether its tests came to their end and noticed nothing. What came to no answer says nothing of the tests. */
export const isUnnoticed = (outcome: Outcome): boolean =>
  outcome.found === "no" && (outcome.why === "tests pass" || outcome.why === "no test fits");

/** So that its tests run in the given order. */
const config = "test/mutations/vitest.config.ts";

/** Whether it tells anything of the tests. */
export const isAnswer = (outcome: Outcome): boolean => outcome.found !== "no" || isUnnoticed(outcome);

/** Limit for the tests of one mistake, ms: twice what they were measured to take, since a mistake makes tests wait. */
const timeoutMs = 300_000;
/** Tests that may fail for another reason than the mistake, before it counts as not found. */
const mostUnsteady = 2;

/** Runs the tests of a mistake in a tree, which is as before afterwards. `tests`: in the order in which they run. */
export const tryMutation = async (
  mutation: Mutation,
  { tests, tree, signal }: { tests: readonly string[]; tree: Tree; signal: AbortSignal },
): Promise<Outcome> => {
  const beganMs = performance.now();
  const seconds = (): number => Math.round((performance.now() - beganMs) / 100) / 10;
  const { name } = mutation;
  const run = (files: readonly string[], leftMs: number): Promise<TestsEnd> =>
    runTests(tree, { files, config, args: ["--bail=1"], timeoutMs: Math.max(1, Math.round(leftMs)), signal });
  const runMutated = async (files: readonly string[]): Promise<TestsEnd> => {
    const undo = await tree.make(mutation);
    try {
      return await run(files, timeoutMs - (performance.now() - beganMs));
    } finally {
      await undo();
    }
  };
  const foundBy = ({ file, name: test, error }: FailedTest, found: "unit" | "integration"): Outcome => ({
    name,
    seconds: seconds(),
    found,
    by: `${file}: ${test}`,
    error: error.slice(0, 200),
  });

  /** Where the mistake breaks the servers that tests share, no test begins. */
  const firstFailed = (end: TestsEnd, [file = ""]: readonly string[]): FailedTest | undefined => {
    if (end.kind === "broken")
      return { file, name: "(the run itself)", error: end.why.trimEnd().split("\n").at(-1) ?? "" };
    return end.kind === "ran" ? end.failed[0] : undefined;
  };
  const passesWithout = async (file: string): Promise<boolean> => {
    const end = await run([file], timeoutMs);
    return end.kind === "ran" && end.failed.length === 0;
  };

  if (tests.length === 0) return { name, seconds: 0, found: "no", why: "no test fits" };
  const unit = tests.filter(isUnitTest);
  const failedUnit = unit.length > 0 ? firstFailed(await runMutated(unit), unit) : undefined;
  if (failedUnit) return foundBy(failedUnit, "unit");
  let others = tests.filter((file) => !isUnitTest(file));
  let unsteady = 0;
  for (; others.length > 0; unsteady++) {
    const end = await runMutated(others);
    if (end.kind === "late") return { name, seconds: seconds(), found: "no", why: "time is over" };
    const failed = firstFailed(end, others);
    if (!failed) break;
    // Real servers on a loaded machine: only what passes without the mistake tells of it.
    if (await passesWithout(failed.file)) return foundBy(failed, "integration");
    if (unsteady === mostUnsteady) break;
    others = others.filter((file) => file !== failed.file);
  }
  return { name, seconds: seconds(), found: "no", why: unsteady > 0 ? "unsteady" : "tests pass" };
};
