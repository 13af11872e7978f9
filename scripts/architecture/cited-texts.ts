import { type ParsedSource, parseSource, type SyntaxNode, walk } from "./parse-source.ts";

/**
 * A piece of a file that can cite something, and its offset. `remark`: text for readers of the file. `string`: text of
 * the program, which may name files outside the repository, so only documents count there.
 */
export type CitedText = { kind: "remark" | "string"; text: string; start: number };

const isCode = (file: string): boolean => /\.(ts|mjs|js)$/.test(file);

const isRemarked = (file: string): boolean =>
  /\.(md|lua|ya?ml|tpl|sh|go|txt)$/.test(file) || /(^|\/)(Dockerfile|\.ci\/run)$/.test(file);

const stringsOf = ({ statements }: ParsedSource): CitedText[] => {
  const found: CitedText[] = [];
  const visit = (node: SyntaxNode): boolean => {
    const isImport = node.type === "ImportDeclaration" || node.type === "ExportAllDeclaration";
    const value = node.type === "TemplateElement" ? (node.value as { raw: string }).raw : node.value;
    if ((node.type === "Literal" || node.type === "TemplateElement") && typeof value === "string")
      found.push({ kind: "string", text: value, start: node.start });
    return !isImport;
  };
  for (const statement of statements) walk(statement as unknown as SyntaxNode, visit);
  return found;
};

/** Comments and strings of code; the whole text of documents, Lua and YAML; nothing of generated files and of data. */
export const citedTexts = (file: string, text: string): CitedText[] => {
  if (file.includes("/generated/")) return [];
  if (isRemarked(file)) return [{ kind: "remark", text, start: 0 }];
  if (!isCode(file)) return [];
  const source = parseSource(file, text);
  const comments = source.comments.map(({ value, start }): CitedText => ({ kind: "remark", text: value, start }));
  return [...comments, ...stringsOf(source)];
};
