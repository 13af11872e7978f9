import { lineAt, type ParsedSource, parseSource, type SyntaxNode } from "./parse-source.ts";
import { isProductCode, type SourceTree, type Violation } from "./source-tree.ts";

/**
 * Values that describe themselves: wire schemas of described ones, routes with a summary, names of Kubernetes
 * resources.
 */
const describesItself = /^export const \w+(: (ResourceType|Kind)<| = (wireSchema|defineRoute)\()/;

const isDescribedSchema = (code: string): boolean =>
  /^export const \w+ = (z\s*\.|\w+\.(describe|extend)\()/.test(code) && code.includes(".describe(");

/** What needs a docstring. Types say most by their fields, which have docstrings of their own where one is needed. */
const declarations = ["VariableDeclaration", "FunctionDeclaration", "ClassDeclaration"];

/** One value that a file exports: its name, and the statement that declares it. */
type Exported = { name: string; statement: SyntaxNode };

const namesOf = (declaration: SyntaxNode): string[] => {
  const declared = (declaration.declarations as { id: SyntaxNode }[] | undefined)?.map(({ id }) => id);
  return (declared ?? [declaration.id as SyntaxNode]).map(({ name = "a pattern" }) => String(name));
};

/** Names that `export { a, b }` takes from the file itself. */
const listed = (statement: SyntaxNode): string[] =>
  statement.type === "ExportNamedDeclaration" && statement.source === null
    ? (statement.specifiers as { local: SyntaxNode }[]).map(({ local }) => String(local.name))
    : [];

/** The values that the file exports, where they are declared. */
const exportedValues = ({ statements }: ParsedSource): Exported[] => {
  const nodes = statements as unknown as SyntaxNode[];
  const lists = nodes.flatMap(listed);
  return nodes.flatMap((statement) => {
    const isExport = ["ExportNamedDeclaration", "ExportDefaultDeclaration"].includes(statement.type);
    const declaration = isExport ? (statement.declaration as SyntaxNode | null) : statement;
    if (!declaration) return [];
    if (statement.type === "ExportDefaultDeclaration") return [{ name: "default", statement }];
    if (!declarations.includes(declaration.type)) return [];
    return namesOf(declaration)
      .filter((name) => isExport || lists.includes(name))
      .map((name) => ({ name, statement }));
  });
};

/** Whether a docstring ends in the line above. Only remarks for the linter may be in between. */
const hasDocstring = (statement: SyntaxNode, { comments }: ParsedSource, text: string): boolean => {
  const docstring = comments.findLast(
    ({ type, value, end }) => type === "Block" && value.startsWith("*") && end <= statement.start,
  );
  if (!docstring) return false;
  const between = text.slice(docstring.end, statement.start).split("\n").slice(1, -1);
  return between.every((line) => line.startsWith("// biome-ignore"));
};

const isExcused = (code: string): boolean => describesItself.test(code) || isDescribedSchema(code);

/**
 * Exported functions, constants and classes without a docstring of their own. A comment at the top of the file is none.
 */
export const checkDocstrings = (tree: SourceTree): Violation[] =>
  [...tree]
    .filter(([file]) => isProductCode(file))
    .flatMap(([file, text]) => {
      const source = parseSource(file, text);
      return exportedValues(source)
        .filter(
          ({ statement }) =>
            !isExcused(text.slice(statement.start, statement.end)) && !hasDocstring(statement, source, text),
        )
        .map(({ name, statement }) => `${file}:${lineAt(text, statement.start)} exports ${name} without a docstring`);
    });
