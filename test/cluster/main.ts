/** `npm run test:cluster`: argv → set-up → suite → exit code. The only place that handles signals and ends the process. */
import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { inspect } from "node:util";
import { makeScratchFolder } from "../robustness/scratch-folder.ts";
import { type Options, readOptions, UsageError, usage } from "./options.ts";
import { createReport, type Report, totals } from "./report.ts";
import { NoCluster, whyImpossible } from "./setup/cluster.ts";
import { setUp } from "./setup/set-up.ts";
import { allPhases } from "./suite/all-phases.ts";

/** Not in the repository: `.gitignore` names the folder above. */
const keepFolder = resolve(import.meta.dirname, "../../.browserpool/cluster");

const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** Longest run, ms: a cluster that has to be built takes 20 minutes on a small machine, the suite as much. */
const longestMs = 90 * 60_000;

/** Aborted by the first SIGINT or SIGTERM, so that everything is taken back, and when a run takes too long. */
const stopSignal = (): AbortSignal => {
  const stop = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const)
    process.on(name, () => {
      if (stop.signal.aborted) process.exit(130);
      say("stopping and cleaning up; once more to stop at once");
      stop.abort(new Error(`stopped by ${name}`));
    });
  return AbortSignal.any([stop.signal, AbortSignal.timeout(longestMs)]);
};

type End = "complete" | "broken off" | "left out";

/** What comes of a set-up that has failed. */
const endBy = (error: unknown, { ifPossible }: Options): End => {
  say(error instanceof Error ? error.message : inspect(error));
  return ifPossible && error instanceof NoCluster ? "left out" : "broken off";
};

/** Set-up and suite; what was made is gone when it resolves. */
const carryOut = async (options: Options, report: Report): Promise<End> => {
  const signal = stopSignal();
  await mkdir(keepFolder, { recursive: true });
  const logFile = join(keepFolder, "log");
  await writeFile(logFile, "", { mode: 0o600 });
  const phases = allPhases.filter(({ name }) => options.only?.includes(name) ?? true);
  await using stack = new AsyncDisposableStack();
  const scratch = stack.use(await makeScratchFolder("browserpool-cluster"));
  try {
    const lane = await setUp({ options, report, env: process.env, folder: scratch.path, logFile, signal, stack });
    for (const phase of phases) if (!signal.aborted) await report.phase(phase.name, (check) => phase.run(lane, check));
  } catch (error) {
    const end = signal.aborted ? "broken off" : endBy(error, options);
    say(`what all programs have said: ${logFile}`);
    return end;
  } finally {
    if (!options.keep) say("cleaning up");
  }
  return signal.aborted ? "broken off" : "complete";
};

const run = async (options: Options): Promise<number> => {
  const startMs = performance.now();
  const report = createReport(say);
  const end = await carryOut(options, report).catch((error: unknown): End => {
    say(`clean-up failed: ${inspect(error)}`);
    return "broken off";
  });
  if (end === "left out") {
    say("cluster tests left out: the machine gives no cluster");
    return 0;
  }
  const isComplete = end === "complete";
  const seconds = Math.round((performance.now() - startMs) / 1000);
  const sum = totals(report.outcomes.phases);
  const file = join(keepFolder, "summary.json");
  await writeFile(file, `${JSON.stringify({ seconds, isComplete, ...sum, ...report.outcomes }, undefined, 2)}\n`);
  say(`\nas JSON: ${file}\ntook ${seconds} s`);
  say(`${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped${isComplete ? "" : "; broken off"}`);
  return isComplete && sum.failed === 0 ? 0 : 1;
};

try {
  const options = readOptions(
    process.argv.slice(2),
    allPhases.map(({ name }) => name),
  );
  if (options.help)
    say(`${usage}\nPhases:\n${allPhases.map(({ name, summary }) => `  ${name.padEnd(14)} ${summary}`).join("\n")}`);
  const obstacle = options.ifPossible ? whyImpossible(process.env) : undefined;
  if (obstacle !== undefined) say(`cluster tests left out: ${obstacle}`);
  process.exit(options.help || obstacle !== undefined ? 0 : await run(options));
} catch (error) {
  if (error instanceof UsageError) process.stderr.write(`test:cluster: ${error.message}\n\n${usage}`);
  else process.stderr.write(`test:cluster: ${inspect(error)}\n`);
  process.exit(2);
}
