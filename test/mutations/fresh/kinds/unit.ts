import type { SyntaxNode } from "../../../../scripts/architecture/parse-source.ts";
import { bare, type Edit, type Kind, textOf, wholeNumber } from "../edit.ts";

const factors = new Set([60, 1000, 1024, 3600, 60_000, 3_600_000]);
const unitName = /^(?:ms|seconds|minutes|bytes)$|[a-z](?:Ms|Seconds|Minutes|Bytes)$/;

const isFactor = (node: SyntaxNode): boolean => factors.has(wholeNumber(bare(node)) ?? 0);

const lostFactor = (node: SyntaxNode): Edit[] => {
  const [left, right] = [node.left as SyntaxNode, node.right as SyntaxNode];
  if (node.operator !== "*" && node.operator !== "/") return [];
  if (isFactor(right)) return [{ start: left.end, end: right.end, replace: "" }];
  return node.operator === "*" && isFactor(left) ? [{ start: left.start, end: right.start, replace: "" }] : [];
};

/** A value that is given to something whose name says its unit. */
const named = (node: SyntaxNode): { name: string; value: SyntaxNode; isShort: boolean } | undefined => {
  const parts = {
    VariableDeclarator: [node.id, node.init],
    AssignmentPattern: [node.left, node.right],
    Property: [node.key, node.value],
  }[node.type] as [SyntaxNode, SyntaxNode | null] | undefined;
  const [key, value] = parts ?? [];
  if (!value || typeof key?.name !== "string" || !unitName.test(key.name)) return undefined;
  return { name: key.name, value, isShort: node.shorthand === true };
};

const converted = (name: string): string => {
  if (/bytes$/i.test(name)) return "* 1024";
  if (/ms$/i.test(name)) return "* 1000";
  return /minutes$/i.test(name) ? "/ 60" : "/ 1000";
};

const gainedFactor = (node: SyntaxNode, { text, parent }: { text: string; parent: SyntaxNode | undefined }): Edit[] => {
  const found = named(node);
  if (!found || parent?.type === "ObjectPattern") return [];
  const { name, value, isShort } = found;
  const [start, end] = [value.start, value.end];
  const number = wholeNumber(value);
  const factor = /bytes$/i.test(name) ? 1024 : 1000;
  if (number === 0) return [];
  if (number !== undefined)
    return [{ start, end, replace: String(number % factor === 0 ? number / factor : number * factor) }];
  if (!["Identifier", "MemberExpression", "CallExpression"].includes(bare(value).type)) return [];
  return [{ start, end, replace: `${isShort ? `${name}: ` : ""}${textOf(text, value)} ${converted(name)}` }];
};

/** Seconds instead of milliseconds, bytes instead of kilobytes: a factor that is missing, or there twice. */
export const unit: Kind = ({ node, parent, text }) =>
  node.type === "BinaryExpression" ? lostFactor(node) : gainedFactor(node, { text, parent });
