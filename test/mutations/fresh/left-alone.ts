/** What no mistake is made in: texts for people, types, and what is only said. */
import type { Place, SyntaxNode } from "../../../scripts/architecture/parse-source.ts";
import { bare, textOf } from "./edit.ts";

const logged =
  /(?:\b(?:log|logger|console)(?:\?)?\.(?:trace|debug|info|warn|error|fatal|log)|\bsay|process\.std(?:out|err)\.write)$/;
const textKeys = new Set(["description", "example", "examples", "help", "message", "operationId", "summary", "title"]);
const textCalls = new Set(["describe", "meta"]);
const kept = new Set(["TSAsExpression", "TSNonNullExpression", "TSSatisfiesExpression"]);

/** Whether a call writes to a log, or to the terminal. */
export const isLogCall = (node: SyntaxNode, text: string): boolean =>
  node.type === "CallExpression" && logged.test(textOf(text, node.callee as SyntaxNode));

const isTextArgument = ({ parent, name }: Place): boolean => {
  const callee =
    parent.type === "CallExpression" && name === "arguments" ? bare(parent.callee as SyntaxNode) : undefined;
  const property = callee?.property as SyntaxNode | undefined;
  return textCalls.has(String(property?.name));
};

/** Whether a node and all below it are left alone. */
export const isLeftAlone = (node: SyntaxNode, text: string, place: Place | undefined): boolean => {
  if (node.type.startsWith("TS")) return !kept.has(node.type);
  if (node.type === "TemplateLiteral" || node.type.startsWith("Import") || node.type === "ExportAllDeclaration")
    return true;
  if (node.type === "NewExpression")
    return /(?:Error|Counter|Gauge|Histogram)$/.test(textOf(text, node.callee as SyntaxNode));
  if (node.type === "Property") return textKeys.has(String((node.key as SyntaxNode).name));
  return isLogCall(node, text) || (place !== undefined && isTextArgument(place));
};
