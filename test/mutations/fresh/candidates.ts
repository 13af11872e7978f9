import { parseSource, type SyntaxNode, walk } from "../../../scripts/architecture/parse-source.ts";
import type { Edit, SourceFacts } from "./edit.ts";
import { allKinds, type FreshKind, freshKinds } from "./kinds/all-kinds.ts";
import { isLeftAlone } from "./left-alone.ts";
import { luaCandidates } from "./lua.ts";

/** The mistakes that can be made in a file, by their kind. */
export type Candidates = ReadonlyMap<FreshKind, readonly Edit[]>;

const factsOf = (statements: readonly SyntaxNode[]): SourceFacts => {
  const ranges: { start: number; end: number; isTry: boolean }[] = [];
  for (const statement of statements)
    walk(statement, (node) => {
      if (/Function/.test(node.type)) ranges.push({ start: node.start, end: node.end, isTry: false });
      if (node.type === "TryStatement") ranges.push({ ...(node.block as SyntaxNode), isTry: true });
      return true;
    });
  return {
    // Parents come first: the last one around an offset is the innermost.
    isInTry: (offset) => ranges.findLast(({ start, end }) => start <= offset && offset < end)?.isTry ?? false,
  };
};

/** All places of a source file where a mistake can be made. */
export const candidatesOf = (file: string, text: string): Candidates => {
  if (file.endsWith(".lua")) return luaCandidates(text);
  const statements = parseSource(file, text).statements as unknown as SyntaxNode[];
  const source = factsOf(statements);
  const found = new Map<FreshKind, Edit[]>();
  const program = { type: "Program", start: 0, end: text.length, body: statements };
  walk(program, (node, place) => {
    if (isLeftAlone(node, text, place)) return false;
    const site = { node, parent: place?.parent, name: place?.name ?? "", text, source };
    for (const kind of freshKinds) {
      const edits = allKinds[kind](site);
      if (edits.length > 0) found.set(kind, (found.get(kind) ?? []).concat(edits));
    }
    return true;
  });
  return found;
};
