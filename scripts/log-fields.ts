/** Which fields the lines of the log have, by the calls of loggers in the sources. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSource, type SyntaxNode, walk } from "./architecture/parse-source.ts";
import { root } from "./generated-file.ts";

/** What takes fields: the levels, and what makes a logger all of whose lines have them. */
const methods = ["trace", "debug", "info", "warn", "error", "fatal", "child"];

type Named = SyntaxNode & { name?: string; computed?: boolean };
type Member = SyntaxNode & { object: Named; property: Named };

/** `log`, `deps.log` and `requestLog`. */
const isLog = (node: Named | Member): boolean =>
  node.type === "Identifier"
    ? /^log$|Log$/.test((node as Named).name ?? "")
    : node.type === "MemberExpression" && isLog((node as Member).property);

const isLogCall = (node: SyntaxNode): boolean => {
  const callee = node.callee as Member | undefined;
  if (node.type !== "CallExpression" || callee?.type !== "MemberExpression") return false;
  return methods.includes(callee.property.name ?? "") && isLog(callee.object);
};

const keysOf = (node: SyntaxNode | undefined): string[] => {
  if (node?.type === "ObjectExpression")
    return (node.properties as SyntaxNode[]).flatMap((property) => {
      if (property.type === "SpreadElement") return keysOf(property.argument as SyntaxNode);
      const key = property.key as Named & { value?: string };
      return [key.name ?? key.value ?? ""];
    });
  if (node?.type === "LogicalExpression") return keysOf(node.right as SyntaxNode);
  if (node?.type === "ParenthesizedExpression") return keysOf(node.expression as SyntaxNode);
  return [];
};

/** Field → files whose calls of a logger give it, in the order of names. Fields that a variable brings are missing. */
export const loggedFields = (): Map<string, string[]> => {
  const fields = new Map<string, string[]>();
  const files = globSync("src/**/*.ts", { cwd: root }).filter((file) => !file.endsWith(".test.ts"));
  for (const file of files.sort()) {
    const { statements } = parseSource(file, readFileSync(join(root, file), "utf8"));
    for (const statement of statements)
      walk(statement as unknown as SyntaxNode, (node) => {
        if (isLogCall(node))
          for (const key of keysOf((node.arguments as SyntaxNode[])[0]))
            fields.set(key, [...new Set([...(fields.get(key) ?? []), file])]);
        return true;
      });
  }
  return new Map([...fields].sort(([a], [b]) => (a < b ? -1 : 1)));
};
