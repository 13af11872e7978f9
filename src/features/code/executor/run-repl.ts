/**
 * Code of a REPL: what it declares at its top is there for all later code. V8 keeps declarations of scripts, but a
 * script can't await; so the code becomes a function whose declarations are assignments to globals:
 *
 *   const a = await f(), { b } = a;   ──►   void (a = await f(), { b } = a);
 *   class C {}                        ──►   C = class C {};
 *   function g() {}                   ──►   stays, and is assigned to the global at once
 */
import { constants, Script } from "node:vm";
import { type Pattern, parse, type Statement, type VariableDeclaration } from "acorn";
import { codeFile } from "./describe-error.ts";

const namesOf = (pattern: Pattern): string[] => {
  switch (pattern.type) {
    case "Identifier":
      return [pattern.name];
    case "ObjectPattern":
      return pattern.properties.flatMap((each) => namesOf(each.type === "RestElement" ? each.argument : each.value));
    case "ArrayPattern":
      return pattern.elements.flatMap((each) => (each ? namesOf(each) : []));
    case "AssignmentPattern":
      return namesOf(pattern.left);
    case "RestElement":
      return namesOf(pattern.argument);
    default:
      return [];
  }
};

/** A piece of text in the place of another. */
type Edit = { from: number; to: number; text: string };

const editsOf = ({ start, kind, declarations }: VariableDeclaration): Edit[] => {
  const end = declarations.at(-1)?.end ?? start;
  const empty = declarations.filter(({ init }) => !init);
  return [
    { from: start, to: start + kind.length, text: "void (" },
    ...empty.map((each) => ({ from: each.end, to: each.end, text: " = undefined" })),
    { from: end, to: end, text: ")" },
  ];
};

type Rewritten = { edits: Edit[]; names: string[]; functions: string[] };

const rewriteOf = (statement: Statement | { type: string }): Rewritten => {
  const none = { edits: [], names: [], functions: [] };
  if (!("start" in statement)) return none;
  if (statement.type === "VariableDeclaration") {
    const names = statement.declarations.flatMap(({ id }) => namesOf(id));
    return { ...none, edits: editsOf(statement), names };
  }
  if (statement.type === "FunctionDeclaration") {
    const { name } = statement.id;
    return { ...none, names: [name], functions: [name] };
  }
  if (statement.type !== "ClassDeclaration") return none;
  const { start, end } = statement;
  const { name } = statement.id;
  const edits = [
    { from: start, to: start, text: `${name} = ` },
    { from: end, to: end, text: ";" },
  ];
  return { ...none, edits, names: [name] };
};

/** `head`: what precedes the code in its first line. `names`: of the globals that it declares. */
type ReplCode = { head: string; text: string; names: string[] };

/** Throws a SyntaxError, whose stack names the line as the compiler does. */
export const rewriteCode = (code: string): ReplCode => {
  const body = ((): ReturnType<typeof parse>["body"] => {
    try {
      return parse(code, { ecmaVersion: "latest", sourceType: "script", allowAwaitOutsideFunction: true }).body;
    } catch (cause) {
      const { message, loc } = cause as Error & { loc?: { line: number } };
      const error = new SyntaxError(message, { cause });
      error.stack = `${codeFile}:${loc?.line ?? 1}\n`;
      throw error;
    }
  })();
  const all = body.map((statement) => rewriteOf(statement as Statement));
  const edits = all.flatMap((each) => each.edits);
  let text = code;
  // From the last one on, so that places before it stay right; of two at one place the later one goes behind.
  for (const { from, to, text: put } of edits.toReversed()) text = text.slice(0, from) + put + text.slice(to);
  const functions = all.flatMap((each) => each.functions);
  const head = `(async () => {${functions.map((name) => `globalThis.${name}=${name};`).join("")}`;
  return { head, text, names: all.flatMap((each) => each.names) };
};

/** Makes a name a plain global, which keeps its value: assignments to an accessor would do nothing. */
const declare = (name: string): void => {
  const found = Object.getOwnPropertyDescriptor(globalThis, name);
  if (found && "value" in found && found.writable) return;
  Object.defineProperty(globalThis, name, { value: undefined, writable: true, configurable: true, enumerable: true });
};

/** Runs code at the top of this process's REPL. */
export const runRepl = async (code: string): Promise<void> => {
  const { head, text, names } = rewriteCode(code);
  const script = new Script(`${head}${text}\n})`, {
    filename: codeFile,
    columnOffset: -head.length,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  for (const name of names) declare(name);
  await (script.runInThisContext() as () => Promise<unknown>)();
};
