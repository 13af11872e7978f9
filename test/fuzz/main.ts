/** `npm run test:fuzz`: argv → run → exit code. The only place that handles signals and ends the process. */
import { inspect } from "node:util";
import { UsageError } from "../support/command-line.ts";
import { moduleOf, type TargetName, targetNames } from "./all-targets.ts";
import { inputOf } from "./cases.ts";
import { type Finding, findingText, inputText, keepFinding } from "./finding.ts";
import { type Options, type Round, readOptions, usage } from "./options.ts";
import type { Order } from "./order.ts";
import { tableOf, writeResults } from "./result-table.ts";
import { runTarget, type TargetResult } from "./run-target.ts";
import type { AnyTarget } from "./target.ts";

const say = (text: string): void => void process.stdout.write(`${text}\n`);

const stopSignal = (): AbortSignal => {
  const stop = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => stop.abort());
  return stop.signal;
};

const targetOf = async (name: TargetName): Promise<AnyTarget> =>
  ((await import(moduleOf(name))) as { target: AnyTarget }).target;

const runOne = async (
  target: TargetName,
  order: Pick<Order, "seed" | "cases" | "seconds" | "only">,
  signal: AbortSignal,
): Promise<TargetResult> => {
  const kept: Promise<void>[] = [];
  const onFinding = (finding: Finding): void =>
    void kept.push(keepFinding(finding).then((file) => say(findingText(finding, file))));
  const result = await runTarget({
    ...order,
    target,
    module: moduleOf(target),
    signal,
    onFinding,
    onProgress: ({ cases }, ms) => say(`  ${target}: ${cases} cases, ${Math.round(cases / (ms / 1000))} a second`),
  });
  await Promise.all(kept);
  return result;
};

const runRounds = async (rounds: Round[]): Promise<number> => {
  const signal = stopSignal();
  const results: TargetResult[] = [];
  for (const { targets, ...order } of rounds)
    for (const target of targets) {
      if (signal.aborted) break;
      say(`${target}, seed ${order.seed}`);
      results.push(await runOne(target, order, signal));
    }
  say(`\n${tableOf(results)}\n\nin ${await writeResults(results)}`);
  return results.some(({ findings, isBrokenOff }) => findings.length > 0 || isBrokenOff) ? 1 : 0;
};

const runCase = async ({ target, seed, number }: Extract<Options, { do: "case" }>): Promise<number> => {
  say(inputText(inputOf((await targetOf(target)).inputs, seed, number)));
  const order = { seed, cases: 1, seconds: Number.POSITIVE_INFINITY, only: number };
  const { findings, isBrokenOff } = await runOne(target, order, stopSignal());
  say(findings.length === 0 ? "nothing was found" : `findings: ${findings.length}`);
  return findings.length > 0 || isBrokenOff ? 1 : 0;
};

const carryOut = async (options: Options): Promise<number> => {
  switch (options.do) {
    case "help":
      say(usage);
      return 0;
    case "list":
      for (const name of targetNames) say(`${name}\n  ${(await targetOf(name)).about}`);
      return 0;
    case "case":
      return runCase(options);
    case "run":
      return runRounds(options.rounds);
  }
};

try {
  process.exit(await carryOut(readOptions(process.argv.slice(2))));
} catch (error) {
  const isUsage = error instanceof UsageError;
  process.stderr.write(`test:fuzz: ${isUsage ? `${error.message}\n\n${usage}` : inspect(error)}\n`);
  process.exit(isUsage ? 2 : 1);
}
