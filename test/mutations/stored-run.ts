/**
 * Runs that are kept in `.browserpool/mutations`: what was tried, and what came of it. A run that was ended goes on
 * from there.
 */
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { digestOf } from "./fitting/measured-coverage.ts";
import type { Mutation } from "./mutation.ts";
import { Outcome } from "./outcome.ts";
import { root } from "./tree.ts";

const Stored = z.object({
  name: z.string(),
  kind: z.string(),
  file: z.string(),
  find: z.string(),
  replace: z.string(),
  outcome: Outcome.optional(),
  /** Digests of the test files that noticed it, when they did. */
  finders: z.record(z.string(), z.string()).optional(),
});

/** `seed` and `budgetSeconds`: of a fresh run. */
const StoredRun = z.object({
  seed: z.int().optional(),
  budgetSeconds: z.int().optional(),
  mutations: z.array(Stored),
});

export type StoredMutation = z.infer<typeof Stored>;
type StoredRun = z.infer<typeof StoredRun>;

/** The path of a run of this name. */
export const runPath = (name: string): string => join(root, ".browserpool/mutations", `${name}.json`);

/** Rejects when the file is no run. Undefined when there is no such file. */
export const readRun = async (path: string): Promise<StoredRun | undefined> =>
  existsSync(path) ? StoredRun.parse(JSON.parse(await readFile(path, "utf8"))) : undefined;

/** In one step, so that a run that is ended leaves a whole file. */
export const writeRun = async (path: string, run: StoredRun): Promise<void> => {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(`${path}.new`, `${JSON.stringify(run, undefined, 1)}\n`);
  await rename(`${path}.new`, path);
};

/** A mutation with what came of it, to be kept. */
export const stored = ({ name, kind, file, find, replace }: Mutation, outcome?: Outcome): StoredMutation => ({
  ...{ name, kind, file, find, replace },
  ...(outcome && { outcome }),
  ...(outcome &&
    outcome.found !== "no" && { finders: Object.fromEntries(outcome.files.map((test) => [test, digestOf(test)])) }),
});

/** What is known of each of the mutations from an earlier run. A result holds for the same change only. */
export const knownOutcomes = (run: StoredRun | undefined): ((mutation: Mutation) => StoredMutation | undefined) => {
  const known = new Map(run?.mutations.map((one) => [one.name, one]));
  return ({ name, find, replace }) => {
    const one = known.get(name);
    return one?.find === find && one.replace === replace ? one : undefined;
  };
};

/** Whether a test file that noticed the mutation is there no more, or another one. */
export const hasLostFinder = ({ finders = {} }: StoredMutation): boolean =>
  Object.entries(finders).some(([file, digest]) => !existsSync(join(root, file)) || digestOf(file) !== digest);
