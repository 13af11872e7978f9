import type { SyntaxNode } from "../../../scripts/architecture/parse-source.ts";

/** One change of a file's text: from `start` to before `end` (UTF-16 units) there is `replace` instead. */
export type Edit = { start: number; end: number; replace: string };

/** Where a kind of mistakes looks: a node, what holds it and under which name, and the text of the file. */
type Site = {
  node: SyntaxNode;
  parent: SyntaxNode | undefined;
  name: string;
  text: string;
  source: SourceFacts;
};

/** What a node alone does not say. */
export type SourceFacts = {
  /** Whether what a function returns here may be caught or finished by a `try` of the same function. */
  isInTry(offset: number): boolean;
};

/** The mistakes of one kind that can be made at a node; none at most nodes. */
export type Kind = (site: Site) => Edit[];

export const textOf = (text: string, { start, end }: SyntaxNode): string => text.slice(start, end);

/** A node without what has no effect when the program runs: parentheses, chains of `?.`, types. */
export const bare = (node: SyntaxNode): SyntaxNode =>
  ["ParenthesizedExpression", "ChainExpression", "TSAsExpression", "TSNonNullExpression"].includes(node.type)
    ? bare(node.expression as SyntaxNode)
    : node;

/** Takes a statement out, and its lines when nothing else is in them. */
export const removed = (text: string, { start, end }: Pick<SyntaxNode, "start" | "end">): Edit => {
  const lineStart = text.lastIndexOf("\n", start - 1) + 1;
  const nextLine = text.indexOf("\n", end) + 1;
  const isAlone = text.slice(lineStart, start).trim() === "" && nextLine > 0 && text.slice(end, nextLine).trim() === "";
  return isAlone ? { start: lineStart, end: nextLine, replace: "" } : { start, end, replace: "" };
};

/** Takes one item out of a list that commas part. */
export const removedItem = (list: readonly SyntaxNode[], index: number): Edit[] => {
  const [before, item, next] = [list[index - 1], list[index], list[index + 1]];
  if (!item) return [];
  if (next) return [{ start: item.start, end: next.start, replace: "" }];
  return [{ start: before?.end ?? item.start, end: item.end, replace: "" }];
};

/** What a call calls: `off` of `socket.off(…)`, `clearTimeout` of `clearTimeout(…)`; undefined when it has no name. */
export const calledName = (node: SyntaxNode): string | undefined => {
  const call = bare(node);
  if (call.type !== "CallExpression") return undefined;
  const callee = bare(call.callee as SyntaxNode);
  const named = callee.type === "MemberExpression" ? (callee.property as SyntaxNode) : callee;
  return typeof named.name === "string" ? named.name : undefined;
};

/** The statements of a block, a function's body or a case; none when the node is another one. */
export const statementsOf = (node: SyntaxNode): SyntaxNode[] => {
  const list = node.type === "SwitchCase" ? node.consequent : node.body;
  return Array.isArray(list) && node.type !== "ClassBody" ? (list as SyntaxNode[]) : [];
};

/** The expression of a statement that is nothing else, without its `await`. */
export const doneBy = (statement: SyntaxNode): { expression: SyntaxNode; isAwaited: boolean } | undefined => {
  if (statement.type !== "ExpressionStatement") return undefined;
  const expression = bare(statement.expression as SyntaxNode);
  const isAwaited = expression.type === "AwaitExpression";
  return { expression: isAwaited ? bare(expression.argument as SyntaxNode) : expression, isAwaited };
};

/** The whole number that a literal stands for; undefined when the node is another one. */
export const wholeNumber = (node: SyntaxNode): number | undefined =>
  node.type === "Literal" && Number.isSafeInteger(node.value) ? (node.value as number) : undefined;
