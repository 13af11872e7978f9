/** Draws mistakes, tries them, and says which share the tests notice. */
import { createHash } from "node:crypto";
import { relative } from "node:path";
import { areaOf } from "../areas.ts";
import { type Console, readFittingFrom, saysSomething } from "../commands.ts";
import { type FittingFrom, fittingTests } from "../fitting/fitting-tests.ts";
import { diffOf, type Mutation } from "../mutation.ts";
import type { FreshOptions } from "../options.ts";
import { isAnswer, isUnnoticed } from "../outcome.ts";
import { listOf, type Result, tableByArea } from "../result-tables.ts";
import { runMutations } from "../run-mutations.ts";
import { readRun, runPath, type StoredMutation, stored, writeRun } from "../stored-run.ts";
import { root, treeDigest } from "../tree.ts";
import type { Step } from "../try-mutation.ts";
import { drawChecked } from "./draw-checked.ts";
import { passingUnitTests } from "./unit-baseline.ts";

/** One file for each draw: the same seed on the same tree, with the same areas and budget. */
const pathOf = async ({ seed, area, budgetSeconds }: FreshOptions): Promise<string> => {
  const of = JSON.stringify([await treeDigest(), area, budgetSeconds]);
  return runPath(`fresh-${seed}-${createHash("sha256").update(of).digest("hex").slice(0, 8)}`);
};

/** The tests of a mutation that was just made up: unit tests, then the others. */
const freshSteps =
  (from: FittingFrom): ((mutation: Mutation) => Step[]) =>
  (mutation) => {
    const { unit, others, seconds } = fittingTests(mutation, from);
    return [{ files: unit }, { files: others, seconds }];
  };

/** The mutations that have an outcome. */
export const resultsOf = (mutations: readonly StoredMutation[]): Result[] =>
  mutations.flatMap((mutation) => (mutation.outcome ? { mutation, outcome: mutation.outcome } : []));

/** Says the rates, and each mistake that was not noticed. */
const sayResults = (results: readonly Result[], { say }: Console): void => {
  say(`\n${tableByArea(results, { isSample: true })}`);
  const unnoticed = results.filter(({ outcome }) => isUnnoticed(outcome)).map(({ mutation }) => mutation);
  if (unnoticed.length > 0) say(`\nnot noticed:\n\n${listOf(unnoticed)}`);
};

type Left = {
  options: Pick<FreshOptions, "count" | "seed" | "budgetSeconds" | "atOnce">;
  path: string;
  console: Console;
};

/**
 * Tries those of the first mutations that have no answer; each result is written at once. Returns these with what is
 * known of them.
 */
export const tryLeft = async (
  mutations: readonly StoredMutation[],
  { options, path, console }: Left,
): Promise<StoredMutation[]> => {
  const known = [...mutations];
  const asked = (): StoredMutation[] => known.slice(0, options.count);
  const left = asked().filter(({ outcome }) => !outcome || !isAnswer(outcome));
  if (left.length === 0) return asked();
  const from = await readFittingFrom(options.budgetSeconds, console);
  const tests = await passingUnitTests(from.tests, console);
  const { seed, budgetSeconds } = options;
  await runMutations(left, {
    ...console,
    atOnce: options.atOnce,
    stepsOf: freshSteps({ ...from, tests }),
    async onResult(mutation, outcome) {
      known[known.findIndex(({ name }) => name === mutation.name)] = stored(mutation, outcome);
      await writeRun(path, { seed, budgetSeconds, mutations: known });
    },
  });
  return asked();
};

/** Returns the exit code: a measurement passes when it says something. */
export const tryFresh = async (options: FreshOptions, console: Console): Promise<number> => {
  const { say, signal } = console;
  const { seed, count, area, budgetSeconds } = options;
  const path = await pathOf(options);
  say(`seed ${seed}`);
  const before = (await readRun(path))?.mutations ?? [];
  const isWanted = (file: string): boolean => area.length === 0 || area.includes(areaOf(file));
  const drawn = before.length >= count ? before : await drawChecked({ count, seed, isWanted, say, signal });
  const outcomeOf = new Map(before.map((one) => [one.name, one]));
  const mutations = drawn.map((mutation) => outcomeOf.get(mutation.name) ?? stored(mutation));
  await writeRun(path, { seed, budgetSeconds, mutations });
  if (options.list) {
    for (const mutation of mutations.slice(0, count)) say(`${mutation.name}\n${diffOf(mutation)}\n`);
    return 0;
  }
  const asked = await tryLeft(mutations, { options, path, console });
  const results = resultsOf(asked);
  sayResults(results, console);
  const isDone = results.length === asked.length;
  say(`\nin ${relative(root, path)}${isDone ? "" : `; the same command with --seed ${seed} goes on`}`);
  return isDone && saysSomething(results, console) ? 0 : 1;
};
