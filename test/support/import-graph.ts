/** Which files of the project a file imports, by reading them. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Import, importsOf } from "../../../scripts/architecture/imports.ts";
import { root } from "../tree.ts";

const direct = new Map<string, Import[]>();

const importsIn = (file: string): Import[] => {
  const known = direct.get(file);
  if (known) return known;
  const path = join(root, file);
  const isCode = /\.(ts|mjs|js)$/.test(file) && existsSync(path);
  const found = isCode ? importsOf(file, readFileSync(path, "utf8")).filter(({ isLocal }) => isLocal) : [];
  direct.set(file, found);
  return found;
};

const reachedFrom = (file: string, isMeant: (one: Import) => boolean): ReadonlyMap<string, number> => {
  const distances = new Map([[file, 0]]);
  // Entries that are added on the way are gone through too.
  for (const [one, distance] of distances)
    for (const { target } of importsIn(one).filter(isMeant))
      if (!distances.has(target)) distances.set(target, distance + 1);
  return distances;
};

const loaded = new Map<string, ReadonlyMap<string, number>>();

/** What a file loads, by path in the tree, with the imports that lie between: 0 for itself, 1 for what it imports. */
export const loadedBy = (file: string): ReadonlyMap<string, number> => {
  const known = loaded.get(file) ?? reachedFrom(file, ({ isType }) => !isType);
  loaded.set(file, known);
  return known;
};

/** What a file's types may depend on, in the same way: imports of types count, too. */
export const knownTo = (file: string): ReadonlyMap<string, number> => reachedFrom(file, () => true);
