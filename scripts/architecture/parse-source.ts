import { extname } from "node:path";
import { type ESTree, type ParseResult, parseSync } from "rolldown/utils";

/** A node of a syntax tree, as far as all kinds of nodes agree: `type`, offsets in UTF-16 units, children by name. */
export type SyntaxNode = { type: string; start: number; end: number; [child: string]: unknown };

/**
 * One parsed file: statements at its top level, comments in their order, and exports by the names that importers use.
 */
export type ParsedSource = {
  statements: ESTree.Program["body"];
  comments: ParseResult["comments"];
  exports: { name: string; start: number; isType: boolean }[];
};

const exportsOf = ({ staticExports }: ParseResult["module"]): ParsedSource["exports"] =>
  staticExports.flatMap(({ entries }) =>
    entries.flatMap(({ exportName: { kind, name }, start, isType }) =>
      // `export * from "x"` gives no name of its own.
      kind === "None" ? [] : [{ name: name ?? "default", start, isType }],
    ),
  );

const parsed = new Map<string, ParsedSource>();

/** Parses TypeScript or JavaScript by the ending of `file`; the same text is parsed once. Throws on a syntax error. */
export const parseSource = (file: string, text: string): ParsedSource => {
  const key = `${extname(file)}\n${text}`;
  const known = parsed.get(key);
  if (known) return known;
  const { program, comments, module, errors } = parseSync(file, text);
  const [error] = errors;
  if (error) throw new Error(`${file}: ${error.message}`);
  const source = { statements: program.body, comments, exports: exportsOf(module) };
  parsed.set(key, source);
  return source;
};

/** The line, from 1, that holds this offset. */
export const lineAt = (text: string, offset: number): number => text.slice(0, offset).split("\n").length;

const isNode = (value: unknown): value is SyntaxNode =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";

/** Where a node stands: the node above it, and the name under which that one holds it. */
export type Place = { parent: SyntaxNode; name: string };

/** Calls `visit` for `node` and everything below it, parents first. `false` leaves out what is below. */
export const walk = (node: SyntaxNode, visit: (node: SyntaxNode, place?: Place) => boolean, place?: Place): void => {
  if (!visit(node, place)) return;
  for (const name of Object.keys(node)) {
    const value = node[name];
    for (const child of Array.isArray(value) ? value : [value])
      if (isNode(child)) walk(child, visit, { parent: node, name });
  }
};
