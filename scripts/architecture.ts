/** The architecture test: what the folders may import, what decides without I/O, and whether headers say what scripts do. */
import { join } from "node:path";
import { checkDocstrings } from "./architecture/check-docstrings.ts";
import { checkImports } from "./architecture/check-imports.ts";
import { checkLua } from "./architecture/check-lua.ts";
import { readTree, type Violation } from "./architecture/source-tree.ts";

/** Everything that src/ breaks; empty when all is well. */
export const checkArchitecture = (): Violation[] => {
  const tree = readTree(join(import.meta.dirname, "..", "src"), [".ts", ".mjs", ".lua"]);
  return [...checkImports(tree), ...checkLua(tree), ...checkDocstrings(tree)];
};

if (import.meta.main) {
  const violations = checkArchitecture();
  for (const violation of violations) console.error(`src/${violation}`);
  if (violations.length > 0) process.exitCode = 1;
}
