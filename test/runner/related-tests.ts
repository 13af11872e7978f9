/**
 * Which tests load a file, found out from imports: of unit tests, of what integration tests import, and of the programs
 * that they start. And which show a rule: they cite it.
 */
import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { UsageError } from "../support/command-line.ts";
import { startedBy } from "../support/import-graph.ts";
import { quickTests, root, slowTests } from "./test-files.ts";

/** Test files, as paths from the root. Throws a `UsageError` for a file that there is not. */
export const relatedTests = (files: readonly string[]): string[] => {
  const wanted = files.map((file) => relative(root, join(process.cwd(), file)));
  const missing = wanted.find((file) => !existsSync(join(root, file)));
  if (missing !== undefined) throw new UsageError(`--related ${missing}: there is no such file`);
  // src/features/vaults/fill/frames.ts → test/features/vaults/
  const folders = wanted.map((file) => `test/${file.split("/").slice(1, -1).slice(0, 2).join("/")}/`);
  const isRelated = (test: string): boolean => {
    const started = startedBy(test);
    return wanted.some((file) => started.has(file)) || folders.some((folder) => test.startsWith(folder));
  };
  return [...quickTests(), ...slowTests()].filter(isRelated).toSorted();
};

/** Test files, as paths from the root. Throws a `UsageError` for a rule that docs/rules.md has not. */
export const testsOfRules = (rules: readonly string[]): string[] => {
  const known = readFileSync(join(root, "docs/rules.md"), "utf8");
  const unknown = rules.find((rule) => !known.includes(`**${rule}**`));
  if (unknown !== undefined) throw new UsageError(`--rule ${unknown}: docs/rules.md has no such rule`);
  const cited = new RegExp(`\\b(${rules.join("|")})\\b`);
  return [...quickTests(), ...slowTests()]
    .filter((test) => cited.test(readFileSync(join(root, test), "utf8")))
    .toSorted();
};
