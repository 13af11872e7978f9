/**
 * The architecture test: what the folders may import, what decides without I/O, whether exports and scripts say what
 * they do, and whether what is cited is there.
 *
 *   node scripts/architecture.ts            prints what is wrong; exit code 1 when something is
 *   node scripts/architecture.ts --graph    prints which folder of src/ imports which
 */
import { checkCitations } from "./architecture/check-citations.ts";
import { checkDocstrings } from "./architecture/check-docstrings.ts";
import { checkFolders, folderGraph } from "./architecture/check-folders.ts";
import { checkFrontDoor } from "./architecture/check-front-door.ts";
import { checkImports } from "./architecture/check-imports.ts";
import { checkLua } from "./architecture/check-lua.ts";
import { checkMap } from "./architecture/check-map.ts";
import { checkPurity } from "./architecture/check-purity.ts";
import { checkRules } from "./architecture/check-rules.ts";
import { checkStalePlaces } from "./architecture/check-stale-places.ts";
import { checkUnused } from "./architecture/check-unused.ts";
import { readRepository } from "./architecture/repository.ts";
import { below, type SourceTree, type Violation } from "./architecture/source-tree.ts";
import { root } from "./generated-file.ts";

/** What the files of src/ are held to; paths are those within it. */
const sourceChecks: readonly ((tree: SourceTree) => Violation[])[] = [
  checkImports,
  checkFolders,
  checkPurity,
  checkStalePlaces,
  checkLua,
  checkDocstrings,
];

/** What the whole repository is held to. */
const repositoryChecks: readonly ((tree: SourceTree) => Violation[])[] = [
  checkCitations,
  checkRules,
  checkMap,
  checkFrontDoor,
  checkUnused,
];

/** Everything that the repository breaks, with paths from its root; empty when all is well. */
export const checkArchitecture = (): Violation[] => {
  const repository = readRepository(root);
  const source = below("src", repository);
  return [
    ...sourceChecks.flatMap((check) => check(source).map((violation) => `src/${violation}`)),
    ...repositoryChecks.flatMap((check) => check(repository)),
  ];
};

if (import.meta.main) {
  if (process.argv.includes("--graph")) {
    console.log(folderGraph(below("src", readRepository(root))).join("\n"));
  } else {
    const violations = checkArchitecture();
    for (const violation of violations) console.error(violation);
    if (violations.length > 0) process.exitCode = 1;
  }
}
