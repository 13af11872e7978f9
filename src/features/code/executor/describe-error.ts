import { stripVTControlCharacters } from "node:util";

/** The file that code of callers is in, as stacks name it. */
export const codeFile = "code.ts";

/** Longest text of an error, and of its stack, characters. */
const mostChars = 16_384;

type Described = { error: string; stack: string };

const textOf = (thrown: unknown): string => {
  if (!(thrown instanceof Error)) return String(thrown);
  return `${thrown.name}: ${thrown.message}`;
};

/** The line that a compiler names before its text: with the name of the file, or by a colon alone. */
const compiledLine = (thrown: unknown, stack: string): string[] => {
  if (!(thrown instanceof SyntaxError)) return [];
  const line = new RegExp(`^(?:${codeFile})?:(\\d+)\\n`).exec(stack)?.[1];
  return line === undefined ? [] : [`    at ${codeFile}:${line}`];
};

const callersLines = (thrown: unknown): string[] => {
  const stack = thrown instanceof Error ? String(thrown.stack) : "";
  const lines = stack.split("\n").filter((line) => /^\s+at /.test(line) && line.includes(`${codeFile}:`));
  return lines.length > 0 ? lines : compiledLine(thrown, stack);
};

/** What was thrown, in words, with those lines of its stack that are the caller's. Never throws. */
export const describeError = (thrown: unknown): Described => {
  try {
    const error = stripVTControlCharacters(textOf(thrown)).slice(0, mostChars);
    return { error, stack: [error, ...callersLines(thrown)].join("\n").slice(0, 2 * mostChars) };
  } catch {
    return { error: "something was thrown that can't be shown", stack: "" };
  }
};
