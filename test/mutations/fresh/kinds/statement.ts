import type { SyntaxNode } from "../../../../scripts/architecture/parse-source.ts";
import { calledName, doneBy, type Edit, type Kind, removed, statementsOf, textOf } from "../edit.ts";
import { isLogCall } from "../left-alone.ts";

/** What ends or gives back something. */
const cleanUps = new Set(
  (
    "abort clear clearImmediate clearInterval clearTimeout close cut defer delete destroy disconnect dispose drop end forget kill leave " +
    "off quit release removeAllListeners removeEventListener removeListener rm rmdir stop unlink unlock unref unsubscribe"
  ).split(" "),
);

/** The calls that stand alone as statements in a list; one that an `if` guards is left out with it. */
const callsIn = (node: SyntaxNode, text: string): { statement: SyntaxNode; name: string }[] =>
  statementsOf(node).flatMap((statement) => {
    const isGuarded = statement.type === "IfStatement" && !statement.alternate;
    const done = doneBy(isGuarded ? (statement.consequent as SyntaxNode) : statement);
    if (done?.expression.type !== "CallExpression" || isLogCall(done.expression, text)) return [];
    if ((done.expression.callee as SyntaxNode).type === "Super") return [];
    return { statement, name: calledName(done.expression) ?? "" };
  });

/** A call left out. */
export const statement: Kind = ({ node, text }) =>
  callsIn(node, text)
    .filter(({ name }) => !cleanUps.has(name) && name !== "throwIfAborted")
    .map((call) => removed(text, call.statement));

const withoutFinally = (node: SyntaxNode, text: string): Edit[] => {
  const [block, handler, last] = [node.block, node.handler, node.finalizer] as (SyntaxNode | null)[];
  if (!block || !last) return [];
  if (handler) return [{ start: handler.end, end: last.end, replace: "" }];
  return [{ start: node.start, end: node.end, replace: textOf(text, block).slice(1, -1).trim() }];
};

/** A clean-up left out: a call that ends something, `finally`, `using`. */
export const cleanUp: Kind = ({ node, text }) => {
  if (node.type === "TryStatement") return withoutFinally(node, text);
  if (node.type === "VariableDeclaration" && /using$/.test(String(node.kind)))
    return [{ start: node.start, end: node.start + String(node.kind).length, replace: "const" }];
  if (node.type === "CallExpression" && calledName(node) === "finally") {
    const callee = node.callee as SyntaxNode;
    return [{ start: (callee.object as SyntaxNode).end, end: node.end, replace: "" }];
  }
  return callsIn(node, text)
    .filter(({ name }) => cleanUps.has(name))
    .map((call) => removed(text, call.statement));
};
