import { lineAt } from "./parse-source.ts";
import { foldersOf } from "./repository.ts";
import type { SourceTree, Violation } from "./source-tree.ts";

const page = "CONTRIBUTING.md";
const title = "## Where things are\n";

/**
 * One path of the map. A line of the map: four spaces, paths with commas between them, two spaces or more, a
 * description.
 */
type Entry = { path: string; line: number };

const readMap = (text: string): Entry[] => {
  const start = text.indexOf(title);
  if (start === -1) return [];
  const end = text.indexOf("\n## ", start + 1);
  const section = text.slice(start, end === -1 ? undefined : end);
  return [...section.matchAll(/^ {4}(\S.*?) {2,}/gm)].flatMap(({ 1: paths = "", index }) =>
    paths.split(/, */).map((path) => ({ path, line: lineAt(text, start + index) })),
  );
};

/** Folders that the map must name: those of the repository, and those of src/. */
const mapped = (folders: Iterable<string>): string[] =>
  [...folders].filter((folder) => /^[^/]+$|^src\/[^/]+$/.test(folder)).sort();

/** Folders that the map in CONTRIBUTING.md omits, and paths in it that do not exist. `tree`: the repository. */
export const checkMap = (tree: SourceTree): Violation[] => {
  const entries = readMap(tree.get(page) ?? "");
  if (entries.length === 0) return [`${page} has no map under "${title.trim()}"`];
  const folders = foldersOf(tree.keys());
  const named = entries.map(({ path }) => path);
  // The entries below src/ describe src.
  const isNamed = (folder: string): boolean => named.some((path) => path === folder || path.startsWith(`${folder}/`));
  return [
    ...mapped(folders)
      .filter((folder) => !isNamed(folder))
      .map((folder) => `${page} does not say what ${folder} is`),
    ...entries
      .filter(({ path }) => !tree.has(path) && !folders.has(path))
      .map(({ path, line }) => `${page}:${line} names ${path}, which is not there`),
  ];
};
