/**
 * `npm test`, `npm run test:all` and `npm run test:watch`: argv → the files that run → vitest, whose exit code it is.
 */
import { parseCLI, startVitest } from "vitest/node";
import { UsageError } from "../support/command-line.ts";
import { type Options, readOptions, type Selection, usage } from "./options.ts";
import { relatedTests, testsOfRules } from "./related-tests.ts";
import { drawnSlowTests, quickTests } from "./test-files.ts";

/** What vitest takes for the files that it runs: parts of their paths; none for all. */
const filtersOf = (selection: Selection): string[] => {
  switch (selection.what) {
    case "all":
      return [];
    case "quick":
      return quickTests();
    case "paths":
      return selection.paths;
    case "slow":
      return drawnSlowTests(selection.draw);
    case "related":
      return relatedTests(selection.files);
    case "rules":
      return testsOfRules(selection.rules);
  }
};

const run = async (options: Extract<Options, { do: "run" }>): Promise<void> => {
  const filters = filtersOf(options);
  if (options.what === "related" || options.what === "rules")
    process.stdout.write(`${filters.length} files:\n  ${filters.join("\n  ")}\n`);
  if (filters.length === 0 && options.what !== "all") throw new UsageError("there is no such test");
  const { options: vitestOptions } = parseCLI(["vitest", options.isWatched ? "watch" : "run", ...options.vitest]);
  const vitest = await startVitest(filters, vitestOptions);
  if (!vitest.shouldKeepServer()) await vitest.exit();
};

try {
  const options = readOptions(process.argv.slice(2));
  if (options.do === "help") process.stdout.write(usage);
  else await run(options);
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`npm test: ${error.message}\n\n${usage}`);
  process.exit(2);
}
