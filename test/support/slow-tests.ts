/** Tests with servers and browsers of their own, which take most of a run's time: which of their files run, and when. */
import { createHash } from "node:crypto";
import { globSync } from "node:fs";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Their folders, those whose files take longest first: whole clusters, and what waits for time to pass. */
export const slowFolders: readonly string[] = [
  "test/faults",
  "test/e2e",
  "test/vault",
  "test/simulated-node",
  "test/registry",
  "test/injector",
  "test/agent",
  "test/fill",
];

const placeOf = ({ moduleId }: TestSpecification): number => {
  const place = slowFolders.findIndex((folder) => moduleId.includes(`/${folder}/`));
  return place === -1 ? slowFolders.length : place;
};

/** Begins with the files that take long, so that no worker is left alone with one at the end. */
export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((a, b) => placeOf(a) - placeOf(b));
  }
}

/** One of so many files of each slow folder runs; the same seed draws the same ones. */
export type Draw = { oneOf: number; seed: string };

/** `SLOW_TESTS_ONE_OF` and `SLOW_TESTS_SEED`; without them all files run. Throws when they can't be meant. */
export const readDraw = ({ SLOW_TESTS_ONE_OF: oneOf, SLOW_TESTS_SEED: seed }: NodeJS.ProcessEnv): Draw | undefined => {
  if (!oneOf && !seed) return undefined;
  if (!/^[1-9]$/.test(oneOf ?? ""))
    throw new Error(`SLOW_TESTS_ONE_OF=${oneOf ?? ""}: give a whole number from 1 to 9`);
  if (!seed) throw new Error("SLOW_TESTS_SEED is missing: give any text, and the same one for the same draw");
  return { oneOf: Number(oneOf), seed };
};

/** One of so many, and at least one; which ones does not depend on where the tree lies, nor on the order of the files. */
export const drawn = (files: readonly string[], { oneOf, seed }: Draw): string[] => {
  const lotOf = (file: string): string => createHash("sha256").update(`${seed} ${file}`).digest("hex");
  const byLot = files.toSorted((a, b) => (lotOf(a) < lotOf(b) ? -1 : 1));
  return byLot.slice(0, Math.ceil(files.length / oneOf));
};

/** The files of slow tests below `root` that are not drawn, as paths from there. */
export const notDrawn = (root: string, draw: Draw): string[] =>
  slowFolders.flatMap((folder) => {
    const files = globSync(`${folder}/**/*.test.ts`, { cwd: root });
    const chosen = new Set(drawn(files, draw));
    return files.filter((file) => !chosen.has(file));
  });
