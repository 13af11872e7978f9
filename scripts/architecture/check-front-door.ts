import { posix } from "node:path";
import type { SourceTree, Violation } from "./source-tree.ts";

const index = "docs/README.md";

/** A newcomer reads the README from its first line to its last. */
const mostLines = 120;

const isPage = (file: string): boolean => /^docs\/[^/]+\.md$/.test(file) && file !== index;

const linked = (text: string): string[] =>
  [...text.matchAll(/\]\(([^)#]+\.md)(?:#[^)]*)?\)/g)].map(([, path = ""]) => posix.join("docs", path));

/** Pages that docs/README.md does not list, or lists twice, and a README that is too long. `tree`: the repository. */
export const checkFrontDoor = (tree: SourceTree): Violation[] => {
  const links = linked(tree.get(index) ?? "");
  const times = (page: string): number => links.filter((link) => link === page).length;
  const lines = (tree.get("README.md") ?? "").split("\n").length - 1;
  return [
    ...[...tree.keys()]
      .filter((file) => isPage(file) && times(file) !== 1)
      .map((file) => `${index} lists ${file} ${times(file)} times; each page has one place`),
    ...(lines > mostLines ? [`README.md has ${lines} lines, of ${mostLines} at most`] : []),
  ];
};
