import { importRules, packageHomes } from "./import-rules.ts";
import { type Import, type Imports, importsOfTree, valueTargets } from "./imports.ts";
import type { SourceTree, Violation } from "./source-tree.ts";

const isIn = (place: string, file: string): boolean => place === "*" || file === place || file.startsWith(`${place}/`);

/** The longest place of the rules that `file` is in. */
const placeOf = (file: string): string | undefined =>
  Object.keys(importRules)
    .filter((place) => isIn(place, file))
    .sort((a, b) => b.length - a.length)[0];

/** `controllers/browser-pool/plan/plan.ts` → `controllers/browser-pool`: one kind's folder. */
const kindFolder = (file: string): string | undefined => /^controllers\/[^/]+(?=\/)/.exec(file)?.[0];

const crossesKinds = ({ file, target }: Import): boolean => {
  const [from, to] = [kindFolder(file), kindFolder(target)];
  return from !== undefined && to !== undefined && from !== to;
};

const localProblem = (item: Import): string | undefined => {
  const { file, target, isType } = item;
  const place = placeOf(file);
  if (place === undefined) return "is in a place that scripts/architecture/import-rules.ts does not know";
  if (crossesKinds(item)) return `imports ${target}: a controller uses nothing of another kind's`;
  const { may, types = [] } = importRules[place] ?? { may: [] };
  const open = ["errors.ts", "host-port.ts", "sensitive.ts", ...may, ...(isType ? ["log.ts", ...types] : [])];
  if (isIn(place, target) || open.some((allowed) => isIn(allowed, target))) return undefined;
  return `imports ${isType ? "types of " : ""}${target}: ${place} may not`;
};

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

/** Where the imports of `tree` break import-rules.ts, or go round in a circle. */
export const checkImports = (tree: SourceTree): Violation[] => {
  const imports = importsOfTree(tree);
  return [...placeViolations(imports), ...cycleViolations(imports)];
};
