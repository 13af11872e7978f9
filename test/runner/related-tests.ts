/** Which tests load a file, found out from imports: of unit tests, of what integration tests import, and of the programs that they start. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { importsOf } from "../../scripts/architecture/imports.ts";
import { UsageError } from "../support/command-line.ts";
import { root } from "./test-files.ts";

/** Local mode is everything: what starts it does not count as loading each file of it. */
const everything = "src/main.ts";

/** A file that is named in a text and started as a program, such as `new URL("agent-entry.ts", import.meta.url)`. */
const startedIn = (file: string, text: string): string[] =>
  [...text.matchAll(/"([\w./-]+\.(?:ts|mjs))"/g)]
    .flatMap(([, name = ""]) => [join(dirname(file), name), name])
    .filter((path) => path !== everything && existsSync(join(root, path)));

const loadedBy = (file: string): string[] => {
  const text = readFileSync(join(root, file), "utf8");
  const imported = importsOf(file, text).filter(({ isLocal, isType }) => isLocal && !isType);
  return [...imported.map(({ target }) => target), ...startedIn(file, text)];
};

/** All files that these load, directly or not, with those. */
const closureOf = (wanted: readonly string[], loaders: ReadonlyMap<string, string[]>): Set<string> => {
  const found = new Set(wanted);
  for (const file of found) for (const loader of loaders.get(file) ?? []) found.add(loader);
  return found;
};

/** Test files, as paths from the root. Throws a `UsageError` for a file that there is not. */
export const relatedTests = (files: readonly string[]): string[] => {
  const wanted = files.map((file) => relative(root, join(process.cwd(), file)));
  const missing = wanted.find((file) => !existsSync(join(root, file)));
  if (missing !== undefined) throw new UsageError(`--related ${missing}: there is no such file`);
  const loaders = new Map<string, string[]>();
  for (const file of globSync("{src,test,scripts,bench}/**/*.{ts,mjs}", { cwd: root }))
    for (const loaded of loadedBy(file)) loaders.set(loaded, [...(loaders.get(loaded) ?? []), file]);
  const folders = wanted.map((file) => `test/${file.split("/")[1]}/`);
  const tests = globSync("{src,test,scripts,bench}/**/*.test.ts", { cwd: root });
  const related = closureOf(wanted, loaders);
  return tests.filter((test) => related.has(test) || folders.some((folder) => test.startsWith(folder))).toSorted();
};
