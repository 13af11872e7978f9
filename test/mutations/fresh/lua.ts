/**
 * Mistakes in Lua scripts. Scripts are short and written alike, a statement in a line, so a line is looked at by
 * itself, without its strings and its comment.
 */
import type { Edit } from "./edit.ts";
import type { FreshKind } from "./kinds/all-kinds.ts";

/**
 * A line with its offset in the file. `code`: as long as the line, with another character for each of a string or a
 * comment.
 */
type Line = { at: number; text: string; code: string };

const masked = (line: string): string =>
  line
    .replace(/"(?:[^"\\]|\\.)*"/g, (text) => `"${"_".repeat(text.length - 2)}"`)
    .replace(/--.*$|^#!.*$/, (text) => " ".repeat(text.length));

const linesOf = (text: string): Line[] => {
  let at = 0;
  return text.split("\n").map((line) => {
    const found = { at, text: line, code: masked(line) };
    at += line.length + 1;
    return found;
  });
};

/** All places in a line where a pattern with the `d` flag fits, by the offsets of its first group. */
const places = ({ at, code }: Line, pattern: RegExp): { start: number; end: number; found: string }[] =>
  [...code.matchAll(pattern)].flatMap(({ indices }) => {
    const [start, end] = indices?.[1] ?? indices?.[0] ?? [0, 0];
    return { start: at + start, end: at + end, found: code.slice(start, end) };
  });

const replaceAll = (line: Line, pattern: RegExp, replace: (found: string) => string[]): Edit[] =>
  places(line, pattern).flatMap(({ start, end, found }) => replace(found).map((one) => ({ start, end, replace: one })));

const withoutLine = ({ at, text }: Line): Edit => ({ start: at, end: at + text.length + 1, replace: "" });

const testPattern = /\b(?:else)?if (.+?) then\b/dg;

/** The parts of a condition that `and` and `or` join, outside of all brackets. */
const operandsOf = (test: string): { start: number; end: number }[] => {
  const parts: { start: number; end: number }[] = [];
  let depth = 0;
  let start = 0;
  for (const { 0: token, index } of test.matchAll(/[([{]|[)\]}]| and | or /g)) {
    if ("([{".includes(token)) depth += 1;
    else if (")]}".includes(token)) depth -= 1;
    else if (depth === 0) {
      parts.push({ start, end: index });
      start = index + token.length;
    }
  }
  return [...parts, { start, end: test.length }];
};

const withoutOperands = (line: Line, text: string): Edit[] =>
  places(line, testPattern).flatMap(({ start, end, found }) => {
    const parts = operandsOf(found);
    if (parts.length < 2) return [];
    const inFile = (from: number, to: number): string => text.slice(start + from, start + to);
    return parts.map((part, index) => {
      const next = parts[index + 1];
      const before = parts[index - 1];
      const replace = next
        ? inFile(0, part.start) + inFile(next.start, found.length)
        : inFile(0, before?.end ?? 0) + inFile(part.end, found.length);
      return { start, end, replace };
    });
  });

const jump = /^\s*if .+ then (?:return\b.*|break) end\s*$/;
const call = /^(\s*)(?:redis\.call|[a-z]\w*)\([^()]*(?:\([^()]*\)[^()]*)*\)\s*$/;
const cleanUps = /^\s*redis\.call\("(?:H?DEL|UNLINK|[SZ]REM\w*|XTRIM|XDEL|EXPIRE|LREM)"|^\s*(?:forget|trim)/;

const neighbour: Readonly<Record<string, string>> = { "<": "<=", "<=": "<", ">": ">=", ">=": ">" };
const aside = (number: string): string[] =>
  number === "0" ? ["1"] : [String(Number(number) - 1), String(Number(number) + 1)];

const ofLine: Partial<Record<FreshKind, (line: Line, text: string) => Edit[]>> = {
  arguments: (line) =>
    replaceAll(line, /(?<![.\w])[a-z]\w*\((\w+, \w+)(?=[,)])/dg, (pair) => [pair.split(", ").reverse().join(", ")]),
  bound: (line) => [
    ...replaceAll(line, / (<=|>=|<|>) /dg, (operator) => [neighbour[operator] ?? operator]),
    ...replaceAll(line, /(?:==|~=|<=|>=|<|>) (\d+)\b/dg, aside),
    ...replaceAll(line, /( [+-] 1)\b/dg, () => [""]),
    ...replaceAll(line, /math\.(min|max)\b/dg, (name) => [name === "min" ? "max" : "min"]),
  ],
  "clean-up": (line) => (call.test(line.code) && cleanUps.test(line.text) ? [withoutLine(line)] : []),
  condition: (line, text) =>
    places(line, testPattern).map(({ start, end }) => {
      const test = text.slice(start, end);
      const isNegated = /^not [\w.]+(?:\([^()]*\))?$/.test(test);
      return { start, end, replace: isNegated ? test.slice("not ".length) : `not (${test})` };
    }),
  default: (line) => replaceAll(line, /( or (?:"_*"|\d+|nil|false))(?![\w.])/dg, () => [""]),
  // Within braces, or in a line of a table that goes on.
  field: (line) => replaceAll(line, /(?<=\{ (?:[^{}]*, )?|^ +(?:[^{}]*, )?(?=.*,$))(\w+ = [\w.#]+, )/dg, () => [""]),
  guard: (line) => (jump.test(line.code) ? [withoutLine(line)] : []),
  operand: withoutOperands,
  statement: (line) => (call.test(line.code) && !cleanUps.test(line.text) ? [withoutLine(line)] : []),
  unit: (line) => replaceAll(line, /( [*/] (?:1000|60|3600|1024))\b/dg, () => [""]),
};

const swapped = (lines: readonly Line[]): Edit[] =>
  lines.flatMap((first, index) => {
    const second = lines[index + 1];
    const indent = call.exec(first.code)?.[1];
    if (!second || indent === undefined || call.exec(second.code)?.[1] !== indent) return [];
    return { start: first.at, end: second.at + second.text.length, replace: `${second.text}\n${first.text}` };
  });

/** All places of a script where a mistake can be made, by its kind. */
export const luaCandidates = (text: string): Map<FreshKind, Edit[]> => {
  const lines = linesOf(text);
  const found = Object.entries(ofLine).map(
    ([kind, find]) => [kind as FreshKind, lines.flatMap((line) => find(line, text))] as const,
  );
  return new Map([...found, ["order", swapped(lines)] as const].filter(([, edits]) => edits.length > 0));
};
