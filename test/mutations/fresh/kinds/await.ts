import type { SyntaxNode } from "../../../../scripts/architecture/parse-source.ts";
import { bare, doneBy, type Edit, type Kind, statementsOf, textOf } from "../edit.ts";
import { isLogCall } from "../left-alone.ts";

/** A forgotten `await` that the linter lets pass: `void f()`, and `return f()` where the error was to be caught. */
export const forgottenAwait: Kind = ({ node, text, source }) => {
  if (node.type === "ExpressionStatement" && doneBy(node)?.isAwaited)
    return [{ start: node.start, end: node.start + "await".length, replace: "void" }];
  if (node.type !== "ReturnStatement" || !node.argument || !source.isInTry(node.start)) return [];
  const returned = bare(node.argument as SyntaxNode);
  if (returned.type !== "AwaitExpression") return [];
  return [
    { start: returned.start, end: returned.end, replace: textOf(text, returned.argument as SyntaxNode) } satisfies Edit,
  ];
};

const isWork = (statement: SyntaxNode, text: string): boolean => {
  const done = doneBy(statement);
  const type = done?.expression.type ?? "";
  return done !== undefined && /^(Call|Assignment|Update)Expression$/.test(type) && !isLogCall(done.expression, text);
};

/** Two steps one after the other, swapped; one of them is waited for. */
export const order: Kind = ({ node, text }) => {
  const list = statementsOf(node);
  return list.flatMap((first, index) => {
    const second = list[index + 1];
    if (!second || ![first, second].every((step) => isWork(step, text))) return [];
    if (!doneBy(first)?.isAwaited && !doneBy(second)?.isAwaited) return [];
    const between = text.slice(first.end, second.start);
    return { start: first.start, end: second.end, replace: textOf(text, second) + between + textOf(text, first) };
  });
};
