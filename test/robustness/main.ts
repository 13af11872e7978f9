/** `npm run test:robustness`: argv → run → exit code. The only place that handles signals and ends the process. */
import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { inspect } from "node:util";
import { runBugs } from "./bugs/run-bugs.ts";
import { leftOut, type Options, possibleFaults, readOptions, UsageError, usage } from "./options.ts";
import { replayHistory } from "./replay.ts";
import { type HistoryWish, runHistories } from "./run-histories.ts";
import { shortTier } from "./short-tier.ts";
import { failureText, progressLine, summarize, summaryText } from "./summary.ts";

/** Not in the repository: `.gitignore` names the folder above. */
const keepFolder = resolve(import.meta.dirname, "../../.browserpool/robustness");

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

const commandOf = ({ seed, loadMs, faults }: HistoryWish, chromium: boolean): string =>
  [
    `npm run test:robustness -- --seed ${seed} --histories 1 --seconds ${loadMs / 1000}`,
    `--faults ${faults.join(",") || "none"}`,
    ...(chromium ? ["--chromium"] : []),
  ].join(" ");

/** Resolves with the exit code. */
const run = async (wishes: HistoryWish[], { chromium = false } = {}): Promise<number> => {
  const startMs = performance.now();
  await mkdir(keepFolder, { recursive: true });
  for (const line of leftOut()) say(line);
  say(`seeds ${wishes.map(({ seed }) => seed).join(", ")}`);
  const { results, growth } = await runHistories(wishes, {
    keepFolder,
    chromium,
    onHistory: (result) => say(progressLine(result)),
    signal: stopSignal(),
  });
  const summary = summarize(results, growth, (performance.now() - startMs) / 1000);
  const summaryFile = join(keepFolder, "summary.json");
  await writeFile(summaryFile, `${JSON.stringify(summary, undefined, 2)}\n`);
  for (const result of results) {
    const wish = wishes.find(({ seed }) => seed === result.seed);
    if (result.findings.length > 0 && wish) say(`\n${failureText(result, commandOf(wish, chromium))}`);
  }
  for (const { what } of growth) say(`\nno-growth: ${what}`);
  say(`\n${summaryText(summary)}\nas JSON: ${summaryFile}`);
  const isWhole = results.length === wishes.length;
  return isWhole && Object.keys(summary.violations).length === 0 ? 0 : 1;
};

const carryOut = async (options: Options): Promise<number> => {
  switch (options.do) {
    case "help":
      say(usage);
      return 0;
    case "short":
      return run(shortTier(possibleFaults()));
    case "run":
      return run(
        Array.from({ length: options.histories }, (_, index) => ({
          seed: options.seed + index,
          loadMs: options.loadMs,
          faults: options.faults,
          isSmall: options.chromium,
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
  process.exit(2);
}
