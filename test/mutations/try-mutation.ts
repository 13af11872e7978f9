/** Whether the tests notice a mutation. */
import { isUnitTest } from "./fitting/fitting-tests.ts";
import type { Mutation } from "./mutation.ts";
import type { Noticed, Outcome, Unnoticed } from "./outcome.ts";
import { type FailedTest, runTests, type TestsEnd } from "./run-tests.ts";
import type { Servers } from "./servers.ts";
import type { Tree } from "./tree.ts";

/**
 * Test files that run one after the other in one process of vitest: unit tests alone, or none. `seconds`: what they
 * take, where that is known.
 */
export type Step = { files: readonly string[]; seconds?: number };

type Attempt = { steps: readonly Step[]; tree: Tree; servers: Servers; signal: AbortSignal };

/** So that its tests run in the given order. */
const config = "test/mutations/vitest.config.ts";
/** Tests that may fail for another reason than the mutation, before it counts as unsteady. */
const mostUnsteady = 2;

const isUnitStep = ({ files: [first = ""] }: Step): boolean => isUnitTest(first);

const sizeOf = (step: Step): "unit" | "integration" => (isUnitStep(step) ? "unit" : "integration");

/** Limit of a step, ms. A mutation makes tests wait, so it is far above what they take. */
const limitOf = (step: Step): number => {
  const { files, seconds = 120 } = step;
  return 1000 * (isUnitStep(step) ? 30 + files.length : 60 + Math.ceil(2 * seconds));
};

/** The first test that failed; where a mutation breaks what all tests need, no test begins. */
const firstFailed = (end: TestsEnd, [file = ""]: readonly string[]): FailedTest | undefined => {
  if (end.kind === "broken")
    return { file, name: "(the run itself)", error: end.why.trimEnd().split("\n").at(-1) ?? "" };
  return end.kind === "ran" ? end.failed[0] : undefined;
};

/** A test of which only the time says that something is wrong. */
const isTimeOut = ({ error }: FailedTest): boolean => /timed out/i.test(error);

type Try = { run: (step: Step) => Promise<TestsEnd>; servers: Servers };

/**
 * Why files fail: by the mutation, by what an earlier run has left on the servers (even one of the same files), or in
 * any case.
 */
type Cause = "mutation" | "servers" | "unsteady";

/**
 * Runs the files without the mutation: the mutation is the cause when they pass. Else they run once more, on other
 * servers.
 */
const causeWithout = async (step: Step, { run, servers }: Try): Promise<Cause> => {
  const passes = async (): Promise<boolean> => {
    const end = await run(step);
    return end.kind === "ran" && end.failed.length === 0;
  };
  if (await passes()) return "mutation";
  if (isUnitStep(step)) return "unsteady";
  await servers.drop();
  return (await passes()) ? "servers" : "unsteady";
};

type Tried = Noticed | Unnoticed;
/** `plain`: runs tests without the mutation. */
type Tries = { plain: Try; mutated: Try["run"] };

/** Tests that come to no end with the mutation notice it when they do without it: in use it would be noticed, too. */
const tryLate = async (step: Step, { plain }: Tries): Promise<Tried> => {
  if (!isUnitStep(step)) await plain.servers.drop();
  if ((await causeWithout(step, plain)) === "unsteady") return { found: "no", why: "time is over" };
  return { found: sizeOf(step), files: [...step.files], test: "(all of them)", error: "came to no end" };
};

/**
 * Real servers on a loaded machine: only what passes without the mutation tells of it. Of unit tests that goes for
 * time-outs alone.
 */
const causeOf = async (
  end: TestsEnd,
  { step, failed, plain }: { step: Step; failed: FailedTest; plain: Try },
): Promise<Cause> =>
  isUnitStep(step) && end.kind === "ran" && !isTimeOut(failed)
    ? "mutation"
    : causeWithout({ ...step, files: [failed.file] }, plain);

/** Tries one step, without the files that turn out to fail anyway. */
export const tryStep = async (whole: Step, tries: Tries): Promise<Tried> => {
  let step = whole;
  const unsteady: string[] = [];
  /** Files that were tried on new servers. */
  const triedAgain = new Set<string>();
  while (unsteady.length <= mostUnsteady && step.files.length > 0) {
    const end = await tries.mutated(step);
    if (end.kind === "late") return tryLate(step, tries);
    const failed = firstFailed(end, step.files);
    if (!failed) break;
    const { file, name: test, error } = failed;
    const cause = await causeOf(end, { step, failed, plain: tries.plain });
    if (cause === "servers" && !triedAgain.has(file)) {
      await tries.plain.servers.drop();
      triedAgain.add(file);
      continue;
    }
    if (cause !== "unsteady") return { found: sizeOf(step), files: [file], test, error: error.slice(0, 200) };
    unsteady.push(`${file}: ${test}`);
    step = { ...step, files: step.files.filter((one) => one !== file) };
  }
  return unsteady.length === 0 ? { found: "no", why: "tests pass" } : { found: "no", why: "unsteady", tests: unsteady };
};

/** The first that noticed. A step without an answer leaves none, unless another one notices the mutation. */
const bestOf = (tried: readonly Tried[]): Tried =>
  tried.find(({ found }) => found !== "no") ??
  tried.find((one) => one.found === "no" && one.why !== "tests pass") ??
  tried[0] ?? { found: "no", why: "no test fits" };

/** Runs the steps until one notices the mutation. The tree is as before afterwards. */
export const tryMutation = async (mutation: Mutation, { steps, tree, servers, signal }: Attempt): Promise<Outcome> => {
  const beganMs = performance.now();
  // Servers are started by the code of `local`, so a mutation in there needs its own.
  const isOfServers = mutation.file.startsWith("local/");
  const run = async (step: Step): Promise<TestsEnd> => {
    const isUnit = isUnitStep(step);
    const env = isUnit || isOfServers ? {} : await servers.environment();
    return runTests(tree, { files: step.files, config, args: ["--bail=1"], env, timeoutMs: limitOf(step), signal });
  };
  const mutated = async (step: Step): Promise<TestsEnd> => {
    const undo = await tree.make(mutation);
    return run(step).finally(undo);
  };
  const tried: Tried[] = [];
  for (const step of steps.filter(({ files }) => files.length > 0)) {
    tried.push(await tryStep(step, { plain: { run, servers }, mutated }));
    if (signal.aborted || tried.at(-1)?.found !== "no") break;
  }
  return { seconds: Math.round((performance.now() - beganMs) / 100) / 10, ...bestOf(tried) };
};
