import type { SyntaxNode } from "../../../../scripts/architecture/parse-source.ts";
import { bare, calledName, type Edit, type Kind, textOf, wholeNumber } from "../edit.ts";

const swappable = new Set(["Identifier", "MemberExpression", "Literal"]);

/** Two arguments that stand beside each other, swapped. */
export const swappedArguments: Kind = ({ node, text }) => {
  if (node.type !== "CallExpression" && node.type !== "NewExpression") return [];
  if (/^Math\.(min|max)$/.test(textOf(text, node.callee as SyntaxNode))) return [];
  const given = node.arguments as SyntaxNode[];
  return given.flatMap((first, index): Edit[] => {
    const second = given[index + 1];
    if (!second || ![first, second].every((one) => swappable.has(bare(one).type))) return [];
    if (first.type === "Literal" && second.type === "Literal") return [];
    const between = text.slice(first.end, second.start);
    return [{ start: first.start, end: second.end, replace: textOf(text, second) + between + textOf(text, first) }];
  });
};

const other = (node: SyntaxNode): Edit[] => {
  const [start, end] = [node.start, node.end];
  const number = wholeNumber(node);
  if (number !== undefined) return [{ start, end, replace: number === 0 ? "1" : "0" }];
  return typeof node.value === "boolean" && node.type === "Literal"
    ? [{ start, end, replace: String(!node.value) }]
    : [];
};

/** Another default, or none: after `??`, of a parameter, in a schema. */
export const defaultValue: Kind = ({ node }) => {
  if (node.type === "AssignmentPattern") return other(node.right as SyntaxNode);
  if (node.type === "CallExpression" && calledName(node) === "default")
    return (node.arguments as SyntaxNode[]).slice(0, 1).flatMap(other);
  if (node.type !== "LogicalExpression" || node.operator !== "??") return [];
  const [left, right] = [node.left as SyntaxNode, node.right as SyntaxNode];
  return [{ start: left.end, end: right.end, replace: "" }, ...other(right)];
};
