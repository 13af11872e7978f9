/**
 * What differs from run to run in an example stands there as `{name}`, with a pattern and a value in placeholders.json.
 * A text of one placeholder alone stands for a value of its type, such as a number.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { z } from "zod";

const Table = z.record(z.string(), z.object({ example: z.union([z.string(), z.number()]), pattern: z.string() }));
const table = Table.parse(JSON.parse(readFileSync(join(import.meta.dirname, "placeholders.json"), "utf8")));

const names = new RegExp(`\\{(${Object.keys(table).join("|")})\\}`, "g");
const wholeName = new RegExp(`^${names.source}$`);

/** Name → value, where it is not the one of the table. */
type Values = Record<string, string | number>;

const walk = (value: unknown, change: (text: string) => unknown): unknown => {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((item) => walk(item, change));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, walk(inner, change)]));
};

/** The value of an example with a value in place of each placeholder. */
export const filled = <T>(value: T, values: Values = {}): T => {
  const inPlaceOf = (name: string) => values[name] ?? table[name]?.example ?? "";
  return walk(value, (text) => {
    const whole = wholeName.exec(text)?.[1];
    return whole === undefined
      ? text.replaceAll(names, (_, name: string) => String(inPlaceOf(name)))
      : inPlaceOf(whole);
  }) as T;
};

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

const patternOf = (text: string): RegExp => {
  let pattern = "";
  let from = 0;
  for (const { 0: found, 1: name = "", index } of text.matchAll(names)) {
    pattern += `${escaped(text.slice(from, index))}(?:${table[name]?.pattern})`;
    from = index + found.length;
  }
  return new RegExp(`^${pattern}${escaped(text.slice(from))}$`, "s");
};

/** What a real value is compared with by `toEqual`. */
export const expected = (value: unknown): unknown =>
  walk(value, (text) => {
    if (text.replaceAll(names, "") === text) return text;
    const whole = wholeName.exec(text)?.[1];
    if (whole !== undefined && typeof table[whole]?.example === "number") return expect.any(Number);
    return expect.stringMatching(patternOf(text));
  });
