/** `npm run test:mutations`: argv → run → exit code. The only place that handles signals and ends the process. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { inspect } from "node:util";
import { UsageError } from "../support/command-line.ts";
import { allMutations, areaOf } from "./all-mutations.ts";
import { fittingTests } from "./fitting/fitting-tests.ts";
import { measureCoverage } from "./fitting/measure.ts";
import { type Coverage, readCoverage, writeCoverage } from "./fitting/measured-coverage.ts";
import type { Mutation } from "./mutation.ts";
import { type Result, tableByArea, tableOfUnfound, writeTables } from "./mutation-table.ts";
import { type Options, readOptions, usage } from "./options.ts";
import { finders, keptResults } from "./results.ts";
import { fittingTestsPath, runMutations } from "./run-mutations.ts";
import { selectMutations } from "./select-mutations.ts";
import { root } from "./tree.ts";
import { isAnswer, isUnnoticed, type Outcome } from "./try-mutation.ts";

const say = (text: string): void => void process.stdout.write(`${text}\n`);

const stopSignal = (): AbortSignal => {
  const stop = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => stop.abort());
  return stop.signal;
};

const writeFittingTests = async (coverage: Coverage): Promise<void> => {
  const finderOf = await finders();
  const fitting = Object.fromEntries(
    allMutations.map((mutation) => [mutation.name, fittingTests(mutation, coverage, finderOf.get(mutation.name))]),
  );
  await writeFile(fittingTestsPath, `${JSON.stringify(fitting, undefined, 2)}\n`);
  const none = allMutations.filter(({ name }) => fitting[name]?.length === 0);
  say(`fitting tests of ${allMutations.length} mistakes are in ${fittingTestsPath.slice(root.length + 1)}`);
  for (const { name, file } of none) say(`no test runs ${file} where ${name} is`);
};

/** Mistakes that no test noticed, and that may not stay so. */
const missedIn = (results: readonly Result[]): Mutation[] =>
  results.flatMap(({ mutation, outcome }) => (isUnnoticed(outcome) && mutation.mayStay === undefined ? mutation : []));

const tryAll = async (options: Extract<Options, { do: "try" }>): Promise<number> => {
  const before = (await keptResults()).map(({ outcome }) => outcome);
  const namesOf = (some: Outcome[]): Set<string> => new Set(some.map(({ name }) => name));
  const mutations = selectMutations(options, {
    answered: namesOf(before.filter(isAnswer)),
    found: namesOf(before.filter(({ found }) => found !== "no")),
  });
  const isSample = options.sample !== undefined;
  if (isSample) say(`seed ${options.seed}`);
  if (mutations.length === 0) {
    say("there is nothing to try");
    return 0;
  }
  const run = { atOnce: options.atOnce, isKept: !isSample, say, signal: stopSignal() };
  const results = await runMutations(mutations, run);
  const missed = missedIn(results);
  // A mistake may need luck to be seen, such as a race: once more, before it counts as news.
  const isNews = !isSample || missedIn(await runMutations(missed, run)).length > 0;
  say(`\n${tableByArea(results)}\n\nnot found:\n\n${tableOfUnfound(results)}`);
  const kept = await keptResults();
  if (!isSample && kept.length === allMutations.length) say(`\nwritten into ${await writeTables(kept)}`);
  if (!results.some(({ outcome }) => isAnswer(outcome))) {
    say("no mistake came to an answer: do the tests run here?");
    return 1;
  }
  const isWell = missed.length === 0 || !isNews;
  return isWell && results.length === mutations.length ? 0 : 1;
};

const carryOut = async (options: Options): Promise<number> => {
  await mkdir(join(root, ".browserpool/mutations"), { recursive: true });
  switch (options.do) {
    case "help":
      say(usage);
      return 0;
    case "list":
      for (const mutation of allMutations)
        say([areaOf(mutation), mutation.kind, mutation.name, mutation.file, mutation.breaks].join("\t"));
      return 0;
    case "find-tests": {
      const before = options.of.length === 0 ? {} : await readCoverage();
      const measured = await measureCoverage({ files: options.of, say, signal: stopSignal() });
      const coverage = { ...before, ...measured };
      await writeCoverage(coverage);
      await writeFittingTests(coverage);
      return 0;
    }
    case "fit":
      await writeFittingTests(await readCoverage());
      return 0;
    case "try":
      return tryAll(options);
  }
};

try {
  process.exit(await carryOut(readOptions(process.argv.slice(2))));
} catch (error) {
  const isUsage = error instanceof UsageError;
  process.stderr.write(`test:mutations: ${isUsage ? `${error.message}\n\n${usage}` : inspect(error)}\n`);
  process.exit(isUsage ? 2 : 1);
}
