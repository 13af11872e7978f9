import { join } from "node:path";
import { parseSource, type SyntaxNode, walk } from "./parse-source.ts";
import { isProductCode, type SourceTree } from "./source-tree.ts";

/**
 * One import of a file. `target`: a path within src/, or the name of a package or of a Node module. `names`: what is
 * imported by name, in the module's own words; `*` for the whole module. `isLater`: by `import()`, when it is needed.
 */
export type Import = {
  file: string;
  target: string;
  isType: boolean;
  isLocal: boolean;
  isLater: boolean;
  names: string[];
};

/** Imports of every file that is no test, by file. */
export type Imports = ReadonlyMap<string, Import[]>;

const packageOf = (specifier: string): string =>
  specifier.startsWith("node:")
    ? specifier
    : specifier
        .split("/")
        .slice(0, specifier.startsWith("@") ? 2 : 1)
        .join("/");

const textOf = (node: SyntaxNode | undefined): string | undefined =>
  node?.type === "Literal" && typeof node.value === "string" ? node.value : undefined;

/** `a` of `import { a as b }`, `default` of `import b`, `*` of `import * as b`. */
const nameOf = (specifier: SyntaxNode): string => {
  if (specifier.type === "ImportDefaultSpecifier") return "default";
  if (specifier.type === "ImportNamespaceSpecifier") return "*";
  const name = (specifier.imported ?? specifier.local) as SyntaxNode;
  return String(name.name ?? name.value);
};

/** What one node imports, if it imports: the specifier as it is written, or `undefined` in `import(name)`. */
const importOf = (
  node: SyntaxNode,
): { specifier: string | undefined; isType: boolean; names: string[] } | undefined => {
  const specifier = textOf(node.source as SyntaxNode | undefined);
  const kind = node.importKind ?? node.exportKind;
  const specifiers = (node.specifiers ?? []) as SyntaxNode[];
  switch (node.type) {
    case "ImportDeclaration":
      return { specifier, isType: kind === "type", names: specifiers.map(nameOf) };
    case "ExportNamedDeclaration":
      return node.source ? { specifier, isType: kind === "type", names: specifiers.map(nameOf) } : undefined;
    case "ExportAllDeclaration":
      return { specifier, isType: kind === "type", names: ["*"] };
    case "ImportExpression":
      return { specifier, isType: false, names: ["*"] };
    case "TSImportType":
      return { specifier, isType: true, names: ["*"] };
    default:
      return resolvedImport(node);
  }
};

/** `require` itself, or `resolve` of `require` or `import.meta`. */
const namesModule = ({ type, name, object, property }: SyntaxNode): boolean => {
  if (type !== "MemberExpression") return name === "require";
  const owner = object as SyntaxNode;
  return (property as SyntaxNode).name === "resolve" && (owner.type === "MetaProperty" || owner.name === "require");
};

/** `import.meta.resolve("x")`, `require("x")` or `require.resolve("x")`: the code makes use of what they name. */
const resolvedImport = (node: SyntaxNode): ReturnType<typeof importOf> => {
  if (node.type !== "CallExpression" || !namesModule(node.callee as SyntaxNode)) return undefined;
  return { specifier: textOf((node.arguments as SyntaxNode[])[0]), isType: false, names: ["*"] };
};

/** What one file imports, in order. A module whose name is computed has the target `?`, which no rule allows. */
export const importsOf = (file: string, text: string): Import[] => {
  const found: Import[] = [];
  const visit = (node: SyntaxNode): boolean => {
    const item = importOf(node);
    if (!item) return true;
    const { specifier = "?", isType, names } = item;
    const isLocal = specifier.startsWith(".");
    const target = isLocal ? join(file, "..", specifier).replaceAll("\\", "/") : packageOf(specifier);
    found.push({ file, target, isType, isLocal, isLater: node.type === "ImportExpression", names });
    return true;
  };
  for (const statement of parseSource(file, text).statements) walk(statement as unknown as SyntaxNode, visit);
  return found;
};

const known = new WeakMap<SourceTree, Imports>();

/** Imports of every file of the tree that is no test, by file. The same tree is gone through once. */
export const importsOfTree = (tree: SourceTree): Imports => {
  const files = [...tree].filter(([file]) => isProductCode(file));
  const imports = known.get(tree) ?? new Map(files.map(([file, text]) => [file, importsOf(file, text)]));
  known.set(tree, imports);
  return imports;
};

/** The files of src/ that `file` loads when it runs. */
export const valueTargets = (imports: Imports, file: string): string[] =>
  (imports.get(file) ?? []).filter(({ isType, isLocal }) => isLocal && !isType).map(({ target }) => target);

/** The files of src/ that are loaded with these, and what each is loaded for: by which path, the file itself last. */
export const loadedWith = (imports: Imports, files: readonly string[]): Map<string, string[]> => {
  const loaded = new Map<string, string[]>();
  const visit = (file: string, above: readonly string[]): void => {
    if (loaded.has(file)) return;
    const path = [...above, file];
    loaded.set(file, path);
    for (const { target, isType, isLocal, isLater } of imports.get(file) ?? [])
      if (isLocal && !isType && !isLater) visit(target, path);
  };
  for (const file of files) visit(file, []);
  return loaded;
};
