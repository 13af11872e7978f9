/**
 * Which tests load a file, found out from imports: of unit tests, of what integration tests import, and of the programs
 * that they start.
 */
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { UsageError } from "../support/command-line.ts";
import { startedBy } from "../support/import-graph.ts";
import { quickTests, root, slowTests } from "./test-files.ts";

/** Test files, as paths from the root. Throws a `UsageError` for a file that there is not. */
export const relatedTests = (files: readonly string[]): string[] => {
  const wanted = files.map((file) => relative(root, join(process.cwd(), file)));
  const missing = wanted.find((file) => !existsSync(join(root, file)));
  if (missing !== undefined) throw new UsageError(`--related ${missing}: there is no such file`);
  const folders = wanted.map((file) => `test/${file.split("/")[1]}/`);
  const isRelated = (test: string): boolean => {
    const started = startedBy(test);
    return wanted.some((file) => started.has(file)) || folders.some((folder) => test.startsWith(folder));
  };
  return [...quickTests(), ...slowTests()].filter(isRelated).toSorted();
};
