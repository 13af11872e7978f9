import type { SyntaxNode } from "../../../../scripts/architecture/parse-source.ts";
import { calledName, type Edit, type Kind, textOf, wholeNumber } from "../edit.ts";

const neighbour: Readonly<Record<string, string>> = { "<": "<=", "<=": "<", ">": ">=", ">=": ">" };
const equalities = new Set(["===", "!=="]);

const aside = (node: SyntaxNode): Edit[] => {
  const value = wholeNumber(node);
  if (value === undefined) return [];
  const near = value === 0 ? [1] : [value - 1, value + 1];
  return near.map((other) => ({ start: node.start, end: node.end, replace: String(other) }));
};

const inComparison = (node: SyntaxNode, text: string): Edit[] => {
  const [left, right, operator] = [node.left as SyntaxNode, node.right as SyntaxNode, String(node.operator)];
  const other = neighbour[operator];
  if (other === undefined && !equalities.has(operator)) return [];
  const at = text.indexOf(operator, left.end);
  return [
    ...(other === undefined ? [] : [{ start: at, end: at + operator.length, replace: other }]),
    ...aside(left),
    ...aside(right),
  ];
};

const inCall = (node: SyntaxNode, text: string): Edit[] => {
  const callee = node.callee as SyntaxNode;
  const name = calledName(node);
  const given = node.arguments as SyntaxNode[];
  if (name === "slice" || name === "subarray") return given.flatMap(aside);
  const isOfMath = textOf(text, callee) === `Math.${name}`;
  if (!isOfMath || given.length < 2 || (name !== "min" && name !== "max")) return [];
  const { start, end } = callee.property as SyntaxNode;
  return [{ start, end, replace: name === "min" ? "max" : "min" }];
};

/**
 * One too many or too few: in a comparison, in what is cut out of a list, `+ 1` left out; or the other one of `min` and
 * `max`.
 */
export const bound: Kind = ({ node, text }) => {
  if (node.type === "CallExpression") return inCall(node, text);
  if (node.type !== "BinaryExpression") return [];
  const [left, right] = [node.left as SyntaxNode, node.right as SyntaxNode];
  const isStep = (node.operator === "+" || node.operator === "-") && wholeNumber(right) === 1;
  return isStep ? [{ start: left.end, end: right.end, replace: "" }] : inComparison(node, text);
};
