import { matchesGlob } from "node:path";
import { betweenFeatures, loadedBesideChromium, loadedLater, packageHomes, restrictions } from "./import-rules.ts";
import { type Import, type Imports, importsOfTree, loadedWith, valueTargets } from "./imports.ts";
import type { SourceTree, Violation } from "./source-tree.ts";

const isIn = (place: string, file: string): boolean =>
  place === "*" || file === place || matchesGlob(file, `${place}/**`);

const isConcerned = (patterns: readonly string[], file: string): boolean =>
  patterns.some((pattern) => matchesGlob(file, pattern));

const featureOf = (file: string): string | undefined => /^features\/([^/]+)\//.exec(file)?.[1];

/** An import of another feature that betweenFeatures does not list. */
const featureProblem = ({ file, target }: Import): string | undefined => {
  const [from, to] = [featureOf(file), featureOf(target)];
  if (from === undefined || to === undefined || from === to || betweenFeatures[from]?.[to]) return undefined;
  return `imports ${target}: ${from} uses nothing of ${to}`;
};

const restrictionProblem = ({ file, target, isType }: Import): string | undefined => {
  const broken = restrictions.find(
    ({ files, not = [], only, types }) =>
      isConcerned(files, file) &&
      !(isType && types) &&
      (not.some((place) => isIn(place, target)) || (only && !only.some((place) => isIn(place, target)))),
  );
  return broken && `imports ${isType ? "types of " : ""}${target}: ${broken.why}`;
};

const localProblem = (item: Import): string | undefined =>
  // ../package.json
  item.target.startsWith("..") ? undefined : (featureProblem(item) ?? restrictionProblem(item));

const packageProblem = ({ file, target }: Import): string | undefined => {
  if (target.startsWith("node:")) return undefined;
  const homes = packageHomes[target];
  if (!homes) return `imports ${target}, which has no home in scripts/architecture/import-rules.ts`;
  return homes.some((home) => isIn(home, file)) ? undefined : `imports ${target}, whose home is ${homes.join(" and ")}`;
};

const placeViolations = (imports: Imports): Violation[] =>
  [...imports.values()].flat().flatMap((item) => {
    const problem = item.isLocal ? localProblem(item) : packageProblem(item);
    return problem === undefined ? [] : [`${item.file} ${problem}`];
  });

/** Cycles of imports at run time; a cycle of types alone is gone once the types are. */
const cycleViolations = (imports: Imports): Violation[] => {
  const done = new Set<string>();
  const found: Violation[] = [];
  const visit = (file: string, above: string[]): void => {
    if (above.includes(file))
      found.push(`${file} imports itself: ${[...above.slice(above.indexOf(file)), file].join(" → ")}`);
    if (done.has(file) || above.includes(file)) return;
    for (const target of valueTargets(imports, file)) visit(target, [...above, file]);
    done.add(file);
  };
  for (const file of imports.keys()) visit(file, []);
  return found;
};

/** What an agent should load later, and loads with these programs. */
const earlyViolations = (
  imports: Imports,
  { programs, patterns }: { programs: string[]; patterns: string[] },
  how: string,
): Violation[] =>
  [...loadedWith(imports, programs)]
    .filter(([file]) => isConcerned(patterns, file))
    .map(([file, path]) => `${file} is loaded ${how}: ${path.join(" → ")}`);

/** Where the imports of `tree` break import-rules.ts, or go round in a circle. */
export const checkImports = (tree: SourceTree): Violation[] => {
  const imports = importsOfTree(tree);
  return [
    ...placeViolations(imports),
    ...cycleViolations(imports),
    ...earlyViolations(imports, loadedLater, "with each agent"),
    ...earlyViolations(imports, loadedBesideChromium, "before Chromium is started"),
  ];
};
