/** The titles of a file's tests and of their groups. */
import { parseSource, type SyntaxNode, walk } from "../architecture/parse-source.ts";

/** The name at the beginning of what is called: `test` of `test.skipIf(x).each(rows)`. */
const rootName = (callee: unknown): string | undefined => {
  const node = callee as SyntaxNode;
  if (node.type === "Identifier") return node.name as string;
  if (node.type === "MemberExpression") return rootName(node.object);
  return node.type === "CallExpression" ? rootName(node.callee) : undefined;
};

/** Throws an Error on a syntax error. */
export const testTitles = (file: string, text: string): Set<string> => {
  const titles = new Set<string>();
  const visit = (node: SyntaxNode): boolean => {
    if (node.type === "CallExpression" && ["test", "describe"].includes(rootName(node.callee) ?? "")) {
      const [first] = node.arguments as SyntaxNode[];
      if (first?.type === "Literal" && typeof first.value === "string") titles.add(first.value);
    }
    return true;
  };
  for (const statement of parseSource(file, text).statements) walk(statement as unknown as SyntaxNode, visit);
  return titles;
};
