import type { Console } from "../commands.ts";
import { runTests } from "../run-tests.ts";
import { copyTree } from "../tree.ts";

/** Limit for all unit tests, ms. */
const timeoutMs = 600_000;

/**
 * The unit tests that pass without a mistake, run as they are with one. A failure counts at once as noticed, so what
 * fails without one is left out, and said. Rejects when they come to no end.
 */
export const passingUnitTests = async (files: readonly string[], { say, signal }: Console): Promise<string[]> => {
  await using tree = await copyTree();
  const beganMs = performance.now();
  const end = await runTests(tree, { files, args: [], timeoutMs, signal });
  if (end.kind !== "ran") throw new Error(`the unit tests came to no end without a mistake: ${end.why}`);
  say(
    `${files.length} files of unit tests take ${Math.round((performance.now() - beganMs) / 1000)} s without a mistake`,
  );
  for (const { file, name, error } of end.failed)
    say(`fails without a mistake, and is left out: ${file}: ${name}: ${error}`);
  const failed = new Set(end.failed.map(({ file }) => file));
  return files.filter((file) => !failed.has(file));
};
