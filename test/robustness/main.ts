/** `npm run test:robustness`: argv → run → exit code. The only place that handles signals and ends the process. */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { inspect } from "node:util";
import { UsageError } from "../support/command-line.ts";
import { runBugs } from "./bugs/run-bugs.ts";
import { leftOut, type Options, possibleFaults, type RunOptions, readOptions, usage } from "./options.ts";
import { replayHistory } from "./replay.ts";
import { BrokenOff, type HistoryRequest, type HistoryResult, type RunResults, runHistories } from "./run-histories.ts";
import { isUnsafe, type Outcome, runWithSecondTry } from "./second-try.ts";
import { shortTier } from "./short-tier.ts";
import { failureText, progressLine, summarize, summaryText } from "./summary.ts";

/** Not in the repository: `.gitignore` names the folder above. */
const keepFolder = resolve(import.meta.dirname, "../../.browserpool/robustness");

/** Why a part of the last run failed, for who sees no more of it than its end (.ci/run). */
const brokenOffFile = join(keepFolder, "broken-off.txt");

const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** Aborted by the first SIGINT or SIGTERM, so that everything is stopped in order. */
const stopSignal = (): AbortSignal => {
  const stop = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const)
    process.on(name, () => {
      if (stop.signal.aborted) process.exit(130);
      say("stopping after this history; once more to stop at once");
      stop.abort();
    });
  return stop.signal;
};

const commandOf = ({ seed, loadMs, faults, redis }: HistoryRequest, { chromium, beside, bug }: RunOptions): string =>
  [
    `npm run test:robustness -- --seed ${seed} --histories 1 --seconds ${loadMs / 1000}`,
    `--faults ${faults.join(",") || "none"}`,
    ...(redis === undefined ? [] : [`--redis ${redis}`]),
    ...(beside === undefined ? [] : [`--beside ${beside}`]),
    ...(chromium ? ["--chromium"] : []),
    ...(bug === undefined ? [] : [`--bug ${bug}`]),
  ].join(" ");

/** As the page of the options has them. */
const exitCodes = { passed: 0, failed: 1, usage: 2, unsafe: 3, brokenOff: 4 } as const;

/** Whether a second try may begin now; says so of these requests. */
const maySecondTryBegin = (requests: HistoryRequest[], secondsOver: number, withinSeconds: number): boolean => {
  const seeds = requests.map(({ seed }) => seed).join(", ");
  const isEarly = secondsOver < withinSeconds;
  say(`${isEarly ? "" : "no time is left to try again: "}timing checks found something: once more seeds ${seeds}`);
  return isEarly;
};

const runAll = async (requests: HistoryRequest[], options: RunOptions): Promise<Outcome> => {
  const startMs = performance.now();
  const { chromium, beside, bug, secondTryWithin } = options;
  const unsafe = new AbortController();
  const signal = AbortSignal.any([stopSignal(), unsafe.signal]);
  let folder = keepFolder;
  const run = async (some: HistoryRequest[]): Promise<RunResults> => {
    const onHistory = (result: HistoryResult): void => {
      say(progressLine(result));
      if (secondTryWithin !== undefined && isUnsafe(result)) unsafe.abort();
    };
    const found = await runHistories(some, { keepFolder: folder, chromium, beside, bug, onHistory, signal });
    folder = join(keepFolder, "second-try");
    return found;
  };
  const mayTryAgain = (again: HistoryRequest[]): boolean =>
    secondTryWithin !== undefined &&
    !signal.aborted &&
    maySecondTryBegin(again, (performance.now() - startMs) / 1000, secondTryWithin);
  return runWithSecondTry(requests, { run, mayTryAgain });
};

/** Says what failed and what passed at its second try only, and writes the summary. Returns the exit code. */
const report = async (requests: HistoryRequest[], outcome: Outcome, options: RunOptions & { seconds: number }) => {
  const { results, failed, growth, unsteady } = outcome;
  const summary = summarize(outcome, options.seconds);
  const summaryFile = join(keepFolder, "summary.json");
  await writeFile(summaryFile, `${JSON.stringify(summary, undefined, 2)}\n`);
  for (const result of failed) {
    const request = requests.find(({ seed }) => seed === result.seed);
    if (request) say(`\n${failureText(result, commandOf(request, options))}`);
  }
  for (const { what } of growth) say(`\nno-growth: ${what}`);
  for (const { name, firstError } of unsteady) say(`\nonly at the second try: ${name}\n  ${firstError}`);
  say(`\n${summaryText(summary)}\nas JSON: ${summaryFile}`);
  if (failed.some(isUnsafe)) return exitCodes.unsafe;
  const isWhole = results.length >= requests.length;
  return isWhole && failed.length + growth.length === 0 ? exitCodes.passed : exitCodes.failed;
};

/** Resolves with the exit code. */
const run = async (requests: HistoryRequest[], options: RunOptions): Promise<number> => {
  const startMs = performance.now();
  await mkdir(keepFolder, { recursive: true });
  await rm(brokenOffFile, { force: true });
  for (const line of leftOut()) say(line);
  say(`seeds ${requests.map(({ seed }) => seed).join(", ")}`);
  try {
    const outcome = await runAll(requests, options);
    return await report(requests, outcome, { ...options, seconds: (performance.now() - startMs) / 1000 });
  } catch (error) {
    const why = inspect(error instanceof BrokenOff ? error.cause : error);
    say(why);
    await writeFile(brokenOffFile, `${error instanceof BrokenOff ? error.message : "the run broke off"}: ${why}\n`);
    if (!(error instanceof BrokenOff)) return exitCodes.brokenOff;
    const request = requests.find(({ seed }) => seed === error.result.seed);
    say(`\n${error.message}\n${failureText(error.result, request ? commandOf(request, options) : "")}`);
    return isUnsafe(error.result) ? exitCodes.unsafe : exitCodes.brokenOff;
  }
};

const carryOut = async (options: Options): Promise<number> => {
  switch (options.do) {
    case "help":
      say(usage);
      return 0;
    case "short":
      return run(shortTier(possibleFaults()), options);
    case "run":
      return run(
        Array.from({ length: options.histories }, (_, index) => ({
          seed: options.seed + index,
          loadMs: options.loadMs,
          faults: options.faults,
          isSmall: options.chromium,
          ...(options.redis !== undefined && { redis: options.redis }),
        })),
        options,
      );
    case "replay":
      return replayHistory(options.file, say);
    case "bugs":
      return runBugs({ only: options.only, keepFolder, say, signal: stopSignal() });
  }
};

try {
  process.exit(await carryOut(readOptions(process.argv.slice(2))));
} catch (error) {
  if (error instanceof UsageError) process.stderr.write(`test:robustness: ${error.message}\n\n${usage}`);
  else process.stderr.write(`test:robustness: ${inspect(error)}\n`);
  process.exit(exitCodes.usage);
}
