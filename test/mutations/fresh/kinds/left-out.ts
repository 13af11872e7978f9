import type { SyntaxNode } from "../../../../scripts/architecture/parse-source.ts";
import { bare, calledName, doneBy, type Edit, type Kind, removed, removedItem, statementsOf, textOf } from "../edit.ts";

const isSignal = (node: SyntaxNode): boolean => {
  const value = bare(node);
  const named = value.type === "MemberExpression" ? (value.property as SyntaxNode) : value;
  return named.type === "Identifier" && named.name === "signal";
};

/** A signal that is not passed on, or not looked at. */
export const signal: Kind = ({ node, text }) => {
  if (node.type === "ObjectExpression") {
    const list = node.properties as SyntaxNode[];
    return list.flatMap((one, at) =>
      one.type === "Property" && isSignal(one.key as SyntaxNode) ? removedItem(list, at) : [],
    );
  }
  if (node.type === "CallExpression") {
    const given = node.arguments as SyntaxNode[];
    const last = given.at(-1);
    const joined = textOf(text, node.callee as SyntaxNode) === "AbortSignal.any" ? given[0] : undefined;
    const signals = (joined?.elements ?? []) as SyntaxNode[];
    if (joined) return signals.length < 2 ? [] : signals.flatMap((_, at) => removedItem(signals, at));
    return last && isSignal(last) ? removedItem(given, given.length - 1) : [];
  }
  return statementsOf(node)
    .filter((one) => calledName(doneBy(one)?.expression ?? one) === "throwIfAborted")
    .map((one) => removed(text, one));
};

/** `.filter(…)` left out. */
export const filter: Kind = ({ node }) => {
  if (node.type !== "CallExpression" || calledName(node) !== "filter") return [];
  const { object } = node.callee as SyntaxNode & { object?: SyntaxNode };
  return object ? [{ start: object.end, end: node.end, replace: "" }] : [];
};

const holders = new Set(["CallExpression", "ReturnStatement", "ParenthesizedExpression"]);

/** A part of an object left out that is not always there, or that its type does not demand. */
export const field: Kind = ({ node, parent }) => {
  if (node.type !== "ObjectExpression") return [];
  const list = node.properties as SyntaxNode[];
  const isGiven = holders.has(parent?.type ?? "");
  return list.flatMap((one, at): Edit[] => {
    const isSpread = one.type === "SpreadElement" && bare(one.argument as SyntaxNode).type !== "Identifier";
    const isField = isGiven && one.type === "Property" && !isSignal(one.key as SyntaxNode);
    return isSpread || isField ? removedItem(list, at) : [];
  });
};
