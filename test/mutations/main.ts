/** `npm run test:mutations`: argv → run → exit code. The only place that handles signals and ends the process. */
import { inspect } from "node:util";
import { UsageError } from "../support/command-line.ts";
import { areaOf } from "./areas.ts";
import { type Console, testFiles } from "./commands.ts";
import { measureCoverage, staleTests } from "./fitting/measure.ts";
import { coveragePath, readCoverage, writeCoverage } from "./fitting/measured-coverage.ts";
import { tryAgainst } from "./fresh/try-against.ts";
import { tryFresh } from "./fresh/try-fresh.ts";
import { keptMistakes } from "./kept-mistakes.ts";
import { type Options, readOptions, usage } from "./options.ts";
import { tryKept } from "./try-kept.ts";

const say = (text: string): void => void process.stdout.write(`${text}\n`);

const stopped = new AbortController();
for (const name of ["SIGINT", "SIGTERM"] as const)
  process.once(name, () => {
    say("ending the servers of the tests; what was tried is kept");
    stopped.abort();
  });
const terminal: Console = { say, signal: stopped.signal };

/** Test files that are measured before what is known is kept: a run that is ended loses no more. */
const measuredAtOnce = 48;

const findTests = async (of: readonly string[]): Promise<number> => {
  let coverage = await readCoverage();
  const files = of.length > 0 ? of : staleTests(testFiles(), coverage);
  say(`${files.length} test files are run to see what they run`);
  for (let done = 0; done < files.length; done += measuredAtOnce) {
    const some = files.slice(done, done + measuredAtOnce);
    coverage = { ...coverage, ...(await measureCoverage({ files: some, ...terminal })) };
    await writeCoverage(coverage);
    say(`${done + some.length} of ${files.length}`);
  }
  say(`what ${Object.keys(coverage).length} test files run is in ${coveragePath}`);
  return 0;
};

const carryOut = async (options: Options): Promise<number> => {
  switch (options.do) {
    case "help":
      say(usage);
      return 0;
    case "list":
      for (const mistake of keptMistakes)
        say([areaOf(mistake.file), mistake.kind, mistake.name, mistake.file, mistake.breaks].join("\t"));
      return 0;
    case "find-tests":
      return findTests(options.of);
    case "kept":
      return tryKept(options, terminal);
    case "fresh":
      return tryFresh(options, terminal);
    case "against":
      return tryAgainst(options, terminal);
  }
};

const codeOf = (error: unknown): number => {
  if (stopped.signal.aborted) return 130;
  const isUsage = error instanceof UsageError;
  process.stderr.write(`test:mutations: ${isUsage ? `${error.message}\n\n${usage}` : inspect(error)}\n`);
  return isUsage ? 2 : 1;
};

const run = async (): Promise<number> => carryOut(readOptions(process.argv.slice(2)));
process.exit(await run().catch(codeOf));
