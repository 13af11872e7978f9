import type { SyntaxNode } from "../../../../scripts/architecture/parse-source.ts";
import { bare, type Edit, type Kind, removed, textOf } from "../edit.ts";

const opposite: Readonly<Record<string, string>> = { "===": "!==", "!==": "===" };

const negated = (text: string, test: SyntaxNode): Edit => {
  const node = bare(test);
  const [start, end] = [test.start, test.end];
  const operator = opposite[String(node.operator)];
  if (node.type === "UnaryExpression" && node.operator === "!")
    return { start, end, replace: textOf(text, node.argument as SyntaxNode) };
  if (operator) {
    const at = text.indexOf(String(node.operator), (node.left as SyntaxNode).end);
    return { start: at, end: at + operator.length, replace: operator };
  }
  const isSimple = ["Identifier", "MemberExpression", "CallExpression"].includes(node.type);
  return { start, end, replace: isSimple ? `!${textOf(text, node)}` : `!(${textOf(text, test)})` };
};

/** An `if` or a loop with the opposite condition, or the values of a choice swapped. */
export const condition: Kind = ({ node, text }) => {
  if (node.type === "IfStatement" || node.type === "WhileStatement") return [negated(text, node.test as SyntaxNode)];
  if (node.type !== "ConditionalExpression") return [];
  const [first, second] = [node.consequent as SyntaxNode, node.alternate as SyntaxNode];
  const between = text.slice(first.end, second.start);
  return [{ start: first.start, end: second.end, replace: textOf(text, second) + between + textOf(text, first) }];
};

/** One side of `&&` or `||` left out. A part of an object that is sometimes there is another kind (`field`). */
export const operand: Kind = ({ node, parent, text }) => {
  if (node.type !== "LogicalExpression" || node.operator === "??") return [];
  const [left, right] = [node.left as SyntaxNode, node.right as SyntaxNode];
  if (parent?.type === "SpreadElement" || bare(right).type === "ObjectExpression") return [];
  return [left, right].map((side) => ({ start: node.start, end: node.end, replace: textOf(text, side) }));
};

const jumps = new Set(["ReturnStatement", "ThrowStatement", "ContinueStatement", "BreakStatement"]);

/** `if (…) return` and the like left out. */
export const guard: Kind = ({ node, parent, name, text }) => {
  if (node.type !== "IfStatement" || node.alternate || (parent?.type === "IfStatement" && name === "alternate"))
    return [];
  const then = node.consequent as SyntaxNode;
  const last = then.type === "BlockStatement" ? (then.body as SyntaxNode[]).at(-1) : then;
  return last && jumps.has(last.type) ? [removed(text, node)] : [];
};
