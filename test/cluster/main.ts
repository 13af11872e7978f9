/**
 * `npm run test:cluster`: argv → set-up → suite → exit code. The only place that handles signals and ends the process.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { inspect } from "node:util";
import { makeScratchFolder } from "../robustness/scratch-folder.ts";
import { UsageError } from "../support/command-line.ts";
import type { Phase } from "./lane.ts";
import { type Options, readOptions, usage } from "./options.ts";
import { createReport, type Report, totals } from "./report.ts";
import { phasesToRepeat, type Unsteady, unsteadyIn } from "./second-try.ts";
import { NoCluster, whyImpossible } from "./setup/cluster.ts";
import { installRelease } from "./setup/install-release.ts";
import { takeBackLeft } from "./setup/made.ts";
import { programRunner } from "./setup/programs.ts";
import { remove } from "./setup/release.ts";
import { type Ground, setUp } from "./setup/set-up.ts";
import { allPhases, phasesOf } from "./suite/all-phases.ts";
import { isTimeOver } from "./time-over.ts";

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

const logFile = join(keepFolder, "log");

/** What phases are done with, and whether a second try may begin. */
type Suite = { options: Options; report: Report; folder: string; signal: AbortSignal; mayTryAgain: () => boolean };

/** Installs the release, and does these phases on it. */
const doPhases = async (ground: Ground, phases: readonly Phase[], { options, report, folder, signal }: Suite) => {
  await using stack = new AsyncDisposableStack();
  const names = phases.map(({ name }) => name);
  const lane = await installRelease(ground, { options, report, folder, signal, stack, names });
  for (const phase of phases) if (!signal.aborted) await report.phase(phase.name, (check) => phase.run(lane, check));
};

/**
 * All phases, and once more those in which nothing failed but that a time was over. Resolves with those that have
 * passed then.
 */
const doSuite = async (ground: Ground, suite: Suite): Promise<Unsteady[]> => {
  const { options, report, signal, mayTryAgain } = suite;
  const phases = phasesOf(options.only, options.draw);
  const leftOut = allPhases.filter((phase) => !options.only && !phases.includes(phase)).map(({ name }) => name);
  if (leftOut.length > 0) say(`not drawn this time: ${leftOut.join(", ")}`);
  const unsteady: Unsteady[] = [];
  await doPhases(ground, phases, suite).catch(async (error: unknown) => {
    if (!isTimeOver(error) || signal.aborted || !mayTryAgain()) throw error;
    say("the release was not ready in time: once more");
    await remove(ground.run);
    await doPhases(ground, phases, suite);
    unsteady.push({ name: "cluster: release", firstError: error instanceof Error ? error.message : inspect(error) });
  });
  const late = phasesToRepeat(report.outcomes.phases);
  if (late.length === 0 || signal.aborted || !mayTryAgain()) return unsteady;
  const again = allPhases.filter(({ name }) => late.some((phase) => phase.name === name));
  say(`a time was over: once more, on a new release: ${again.map(({ name }) => name).join(", ")}`);
  await remove(ground.run);
  await doPhases(ground, again, suite);
  return [...unsteady, ...unsteadyIn(late, report.outcomes.phases)];
};

/** One try to bring up the cluster and its images; what is there by then is taken back when it fails. */
const tryToSetUp = async (suite: Suite): Promise<Ground & { stack: AsyncDisposableStack }> => {
  await using stack = new AsyncDisposableStack();
  const ground = await setUp({ ...suite, env: process.env, logFile, stack });
  return { ...ground, stack: stack.move() };
};

/** Set-up and suite; what was made is gone when it resolves. */
const carryOut = async (options: Options, report: Report): Promise<{ end: End; unsteady: Unsteady[] }> => {
  const startMs = performance.now();
  const signal = stopSignal();
  await mkdir(keepFolder, { recursive: true });
  await writeFile(logFile, "", { mode: 0o600 });
  await using parts = new AsyncDisposableStack();
  const scratch = parts.use(await makeScratchFolder("browserpool-cluster"));
  const mayTryAgain = (): boolean => performance.now() - startMs < (options.secondTryWithin ?? 0) * 1000;
  await takeBackLeft(programRunner(process.env, { logFile, signal }));
  const suite: Suite = { options, report, folder: scratch.path, signal, mayTryAgain };
  try {
    const ground = await tryToSetUp(suite).catch((error: unknown) => {
      if (signal.aborted || !mayTryAgain()) throw error;
      say(`${error instanceof Error ? error.message : inspect(error)}\nno cluster: once more`);
      return tryToSetUp(suite);
    });
    parts.use(ground.stack);
    const unsteady = await doSuite(ground, suite);
    return { end: signal.aborted ? "broken off" : "complete", unsteady };
  } catch (error) {
    const end = signal.aborted ? "broken off" : endBy(error, options);
    say(`what all programs have said: ${logFile}`);
    return { end, unsteady: [] };
  } finally {
    if (!options.keep) say("cleaning up");
  }
};

const run = async (options: Options): Promise<number> => {
  const startMs = performance.now();
  const report = createReport(say);
  const { end, unsteady } = await carryOut(options, report).catch((error: unknown) => {
    say(`clean-up failed: ${inspect(error)}`);
    return { end: "broken off" as const, unsteady: [] };
  });
  if (end === "left out") {
    say("cluster tests left out: the machine gives no cluster");
    return 0;
  }
  const isComplete = end === "complete";
  const seconds = Math.round((performance.now() - startMs) / 1000);
  const sum = totals(report.outcomes.phases);
  const file = join(keepFolder, "summary.json");
  await writeFile(
    file,
    `${JSON.stringify({ seconds, isComplete, ...sum, unsteady, ...report.outcomes }, undefined, 2)}\n`,
  );
  for (const { name, firstError } of unsteady) say(`only at the second try: ${name}\n  ${firstError}`);
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
