import { lineAt } from "./parse-source.ts";
import type { SourceTree, Violation } from "./source-tree.ts";

/** The page with the rules of the service, each of which has an id: `- **POOL-PATCH-3** …`. */
const page = "docs/rules.md";

/** Tests of the checks: their small trees name rules that do not exist. */
const examples = /^scripts\/architecture\//;

type Rule = { id: string; line: number; isDue: boolean };

/** Of the bold beginnings of lines, those that a writer means as an id. */
const looksLikeId = /^\S+-\d+\S*$/;

const idPattern = /^[A-Z]+(?:-[A-Z]+)*-\d+$/;

/** The rules of the page, and ids that are malformed or occur twice. `isDue`: not marked `*(not yet)*`. */
const readRules = (text: string): { rules: Rule[]; broken: Violation[] } => {
  const marked = [...text.matchAll(/^- \*\*([^*\n]+)\*\*(.*)$/gm)]
    .filter(({ 1: id = "" }) => looksLikeId.test(id))
    .map(({ 1: id = "", 2: rest = "", index }) => ({
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

/** Matches every id whose first word is that of a family, so that a misspelled family is found too. */
const idsOf = (rules: Rule[]): RegExp => {
  const words = new Set(rules.map(({ id }) => id.slice(0, id.indexOf("-"))));
  return new RegExp(`(?<![\\w-])(?:${[...words].join("|")})(?:-[A-Z]+)*-\\d+(?![\\w-])`, "g");
};

const isTest = (file: string): boolean => /^src\/.*\.test\.ts$/.test(file) || file.startsWith("test/");

/** Cited rules that do not exist, and rules in force that no test cites. `tree`: the repository. */
export const checkRules = (tree: SourceTree): Violation[] => {
  const text = tree.get(page);
  if (text === undefined) return [`${page} is missing`];
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
