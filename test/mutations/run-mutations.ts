import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { Mutation } from "./mutation.ts";
import type { Result } from "./mutation-table.ts";
import { keepResult } from "./results.ts";
import { copyTree } from "./tree.ts";
import { type Outcome, tryMutation } from "./try-mutation.ts";

/** The test files that fit each mistake, by its name. */
export const fittingTestsPath = join(import.meta.dirname, "generated/fitting-tests.json");

export const readFittingTests = async (): Promise<Record<string, string[]>> =>
  z.record(z.string(), z.array(z.string())).parse(JSON.parse(await readFile(fittingTestsPath, "utf8")));

/** `isKept`: whether the results are written into the tree. */
type MutationRun = { atOnce: number; isKept: boolean; say: (text: string) => void; signal: AbortSignal };

const lineOf = ({ name, seconds, ...outcome }: Outcome): string => {
  const told = outcome.found === "no" ? `NOT FOUND (${outcome.why})` : `found by ${outcome.by}`;
  return `${name}  ${told}  ${seconds} s`;
};

/** Tries each mistake in a copy of the tree; as many copies as are tried at once. A result is kept as soon as it is there. */
export const runMutations = async (
  mutations: readonly Mutation[],
  { atOnce, isKept, say, signal }: MutationRun,
): Promise<Result[]> => {
  const fitting = await readFittingTests();
  const left = [...mutations];
  const results: Result[] = [];
  let kept = Promise.resolve();
  const work = async (): Promise<void> => {
    await using tree = await copyTree();
    for (let mutation = left.shift(); mutation && !signal.aborted; mutation = left.shift()) {
      const outcome = await tryMutation(mutation, { tests: fitting[mutation.name] ?? [], tree, signal });
      if (signal.aborted) return;
      const result = { mutation, outcome };
      results.push(result);
      say(`${results.length}/${mutations.length}  ${lineOf(outcome)}`);
      if (isKept) kept = kept.then(() => keepResult(result));
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, mutations.length) }, work));
  await kept;
  return results;
};
