/** Which files of the project a file imports or starts, by reading them. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { importsOf } from "../../scripts/architecture/imports.ts";

const root = join(import.meta.dirname, "../..");

/** Local mode is everything: what starts it does not count as starting each file of it. */
const everything = "src/main.ts";

/**
 * What a file names: `values` and `types` it imports, and `programs`, such as `new URL("agent-entry.ts",
 * import.meta.url)`.
 */
type Named = { values: string[]; types: string[]; programs: string[] };

const programsIn = (file: string, text: string): string[] =>
  [...text.matchAll(/"([\w./-]+\.(?:ts|mjs))"/g)]
    .flatMap(([, name = ""]) => [join(dirname(file), name), name])
    .filter((path) => path !== everything && existsSync(join(root, path)));

const known = new Map<string, Named>();

const namedIn = (file: string): Named => {
  const before = known.get(file);
  if (before) return before;
  const isCode = /\.(ts|mjs|js)$/.test(file) && existsSync(join(root, file));
  const text = isCode ? readFileSync(join(root, file), "utf8") : "";
  const imports = importsOf(file, text).filter(({ isLocal }) => isLocal);
  const targets = (areTypes: boolean): string[] =>
    imports.filter(({ isType }) => isType === areTypes).map(({ target }) => target);
  const named = { values: targets(false), types: targets(true), programs: programsIn(file, text) };
  known.set(file, named);
  return named;
};

const reachedFrom = (file: string, next: (named: Named) => string[]): ReadonlyMap<string, number> => {
  const distances = new Map([[file, 0]]);
  // Entries that are added on the way are gone through too.
  for (const [one, distance] of distances)
    for (const target of next(namedIn(one))) if (!distances.has(target)) distances.set(target, distance + 1);
  return distances;
};

const loaded = new Map<string, ReadonlyMap<string, number>>();

/** What a file loads, by path in the tree, with the imports that lie between: 0 for itself, 1 for what it imports. */
export const loadedBy = (file: string): ReadonlyMap<string, number> => {
  const before = loaded.get(file) ?? reachedFrom(file, ({ values }) => values);
  loaded.set(file, before);
  return before;
};

/** What a file's types may depend on, in the same way: imports of types count, too. */
export const knownTo = (file: string): ReadonlyMap<string, number> =>
  reachedFrom(file, ({ values, types }) => [...values, ...types]);

/** What runs when a file does, in the same way: programs that it starts count, too, but for local mode as a whole. */
export const startedBy = (file: string): ReadonlyMap<string, number> =>
  reachedFrom(file, ({ values, programs }) => [...values, ...programs]);
