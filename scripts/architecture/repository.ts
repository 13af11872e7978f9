import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { SourceTree } from "./source-tree.ts";

/** What git does not keep (.gitignore), and git's own folder. */
const notKept = [".browserpool", ".git", "bench/results", "coverage", "node_modules"];

const filesBelow = (root: string, folder: string): string[] =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (notKept.includes(path) || notKept.includes(entry.name) || entry.isSymbolicLink()) return [];
    return entry.isDirectory() ? filesBelow(root, path) : [path];
  });

/**
 * Every file of the repository: path → content, read as UTF-8. What a link leads to stands there under its own path
 * alone.
 */
export const readRepository = (root: string): SourceTree =>
  new Map(
    filesBelow(root, "")
      .filter((file) => !file.endsWith(".log"))
      .sort()
      .map((file) => [file, readFileSync(join(root, file), "utf8")]),
  );

/** Every folder that holds one of these files, and those around it. */
export const foldersOf = (files: Iterable<string>): ReadonlySet<string> => {
  const folders = new Set<string>();
  for (const file of files)
    for (let end = file.lastIndexOf("/"); end !== -1; end = file.lastIndexOf("/", end - 1))
      folders.add(file.slice(0, end));
  return folders;
};
