import { matchesGlob } from "node:path";
import { type Import, type Imports, importsOfTree, valueTargets } from "./imports.ts";
import { impureUses } from "./impure-uses.ts";
import { decisions, pureNodeNames, purePackages } from "./purity-rules.ts";
import type { SourceTree, Violation } from "./source-tree.ts";

const decides = (file: string): boolean => decisions.some((pattern) => matchesGlob(file, pattern));

const doesIo = ({ target, isType, isLocal, names }: Import): boolean => {
  if (isType || isLocal || purePackages.includes(target)) return false;
  const pure = pureNodeNames[target];
  return pure === undefined || names.length === 0 || names.some((name) => !pure.includes(name));
};

/** Every file that a decision loads, with the shortest way to it: the decision first, the file last. */
const waysFromDecisions = (imports: Imports): Map<string, string[]> => {
  const ways = new Map([...imports.keys()].filter(decides).map((file) => [file, [file]]));
  // Entries that are added on the way are gone through too.
  for (const [file, way] of ways)
    for (const target of valueTargets(imports, file)) if (!ways.has(target)) ways.set(target, [...way, target]);
  return ways;
};

/** Files that decide, and files that they load, which do I/O or read a clock or chance. */
export const checkPurity = (tree: SourceTree): Violation[] => {
  const imports = importsOfTree(tree);
  return [...waysFromDecisions(imports)].flatMap(([file, way]) => {
    const io = (imports.get(file) ?? []).find(doesIo);
    const [use] = imports.has(file) ? impureUses(file, tree.get(file) ?? "") : [];
    const through = way.length === 1 ? "" : `: ${way.join(" → ")}`;
    return [
      ...(io ? [`${way[0]} decides and must do no I/O: ${[...way, io.target].join(" → ")}`] : []),
      ...(use
        ? [
            `${file}:${use.line} decides and must be handed what it reads of clock, chance and the outside: ${use.what}${through}`,
          ]
        : []),
    ];
  });
};
