import { lineAt } from "./parse-source.ts";
import type { SourceTree, Violation } from "./source-tree.ts";

/** The page with the rules of the service, each of which has an id: `- **POOL-PATCH-3** …`. */
const page = "docs/rules.md";

/** Tests whose small trees name rules that are not there. */
const examples = /^scripts\/architecture\//;

type Rule = { id: string; line: number; isDue: boolean };

const idPattern = /^[A-Z]+(?:-[A-Z]+)*-\d+$/;

/** The rules of the page, and lines that look like one and are none. `isDue`: not marked `*(not yet)*`. */
const readRules = (text: string): { rules: Rule[]; broken: Violation[] } => {
  const marked = [...text.matchAll(/^- \*\*([^*\n]+)\*\*(.*)$/gm)].map(({ 1: id = "", 2: rest = "", index }) => ({
    id,
    line: lineAt(text, index),
    isDue: !rest.trimStart().startsWith("*(not yet)*"),
  }));
  const seen = new Set<string>();
  const broken = marked.flatMap(({ id, line }) => {
    const problem = !idPattern.test(id) ? "which is no id of a rule" : seen.has(id) ? "a second time" : undefined;
    seen.add(id);
    return problem === undefined ? [] : [`${page}:${line} names ${id}, ${problem}`];
  });
  return { rules: marked.filter(({ id }) => idPattern.test(id)), broken };
};

/** Finds what looks like an id of a family, or of one that begins with the same word: a slip of the pen counts too. */
const idsOf = (rules: Rule[]): RegExp => {
  const words = new Set(rules.map(({ id }) => id.slice(0, id.indexOf("-"))));
  return new RegExp(`(?<![\\w-])(?:${[...words].join("|")})(?:-[A-Z]+)*-\\d+(?![\\w-])`, "g");
};

const isTest = (file: string): boolean => /^src\/.*\.test\.ts$/.test(file) || file.startsWith("test/");

/** Citations of rules that there are not, and rules that no test cites though they are in force. `tree`: the repository. */
export const checkRules = (tree: SourceTree): Violation[] => {
  const text = tree.get(page);
  // LENIENT UNTIL docs/rules.md IS THERE: to become a violation once it is.
  if (text === undefined) return [];
  const { rules, broken } = readRules(text);
  if (rules.length === 0) return [...broken, `${page} has no rules`];
  const pattern = idsOf(rules);
  const known = new Set(rules.map(({ id }) => id));
  const tested = new Set<string>();
  const dangling: Violation[] = [];
  for (const [file, content] of tree) {
    if (examples.test(file)) continue;
    for (const { 0: id, index } of content.matchAll(pattern)) {
      if (isTest(file)) tested.add(id);
      if (!known.has(id))
        dangling.push(`${file}:${lineAt(content, index)} cites rule ${id}, which ${page} does not have`);
    }
  }
  const untested = rules
    .filter(({ id, isDue }) => isDue && !tested.has(id))
    .map(({ id, line }) => `${page}:${line} has rule ${id}, which no test cites`);
  return [...broken, ...dangling, ...untested];
};
