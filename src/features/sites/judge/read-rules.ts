/** Reads the judge's rules: the built-in rules, and before them an administrator's (LOOKUP-55, LOOKUP-56). */
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import type { z } from "zod";
import { type JudgeRules, type RulesFile, RulesFile as Schema } from "./rules.ts";

/** The text of the rules that come with the service. */
export const builtInRules = readFileSync(new URL("rules.yaml", import.meta.url), "utf8");

/** The longest file, characters: twice the built-in one. */
const maxFileLength = 131_072;

/**
 * The most patterns of one file, twice as many as the built-in file has. Each is looked for on the event loop. The
 * worst page and patterns that were tried took 0.4 ms for each pattern, ordinary ones 0.02 ms.
 */
const maxPatterns = 1000;

const quote = (name: unknown): string => (typeof name === "string" ? ` "${name.slice(0, 63)}"` : "");

/** `rules[2] "my-rule": any[0].title`, or the path as it is outside of rules. */
const placeOf = (path: readonly PropertyKey[], value: unknown): string => {
  const [first, index, ...rest] = path;
  if (first !== "rules" || typeof index !== "number") return path.map(String).join(".") || "file";
  const rule = (value as { rules?: { name?: unknown }[] }).rules?.[index];
  const field = rest.map((part) => (typeof part === "number" ? `[${part + 1}]` : `.${String(part)}`)).join("");
  return `rule ${index + 1}${quote(rule?.name)}${field && `, ${field.replace(/^\./, "")}`}`;
};

/** The most specific complaint: of a union (a pattern or a list) that of the form which the value has. */
const innermost = (issue: z.core.$ZodIssue): z.core.$ZodIssue => {
  if (issue.code !== "invalid_union") return issue;
  const nested = issue.errors
    .flat()
    .toSorted((a, b) => Number(a.code === "invalid_type") - Number(b.code === "invalid_type"));
  const [best] = nested;
  return best ? innermost({ ...best, path: [...issue.path, ...best.path] }) : issue;
};

const parseYaml = (text: string, file: string): unknown => {
  if (text.length > maxFileLength) throw new Error(`${file}: longer than ${maxFileLength} characters`);
  try {
    // Aliases could make a small file a huge value.
    return parse(text, { maxAliasCount: 0 }) as unknown;
  } catch (error) {
    throw new Error(`${file}: ${error instanceof Error ? error.message : "is no YAML"}`);
  }
};

const countPatterns = (value: unknown): number => {
  if (typeof value === "string") return 1;
  return typeof value === "object" && value !== null
    ? Object.values(value).reduce((sum: number, item) => sum + countPatterns(item), 0)
    : 0;
};

const readFile = (text: string, file: string): RulesFile => {
  const value = parseYaml(text, file);
  const { data, error } = Schema.safeParse(value);
  if (error) {
    const complaints = error.issues.slice(0, 5).map(innermost);
    throw new Error(complaints.map(({ path, message }) => `${file}: ${placeOf(path, value)}: ${message}`).join("\n"));
  }
  const patterns = data.rules.reduce((sum, { any, unless = [] }) => sum + countPatterns([any, unless]), 0);
  if (patterns > maxPatterns) throw new Error(`${file}: ${patterns} patterns, more than ${maxPatterns}`);
  return data;
};

/** Complains of names that rules give twice, and of reasons and notes that nothing describes. */
const checkNames = (files: readonly { file: string; rules: RulesFile["rules"] }[], known: RulesFile): void => {
  const names = new Set<string>();
  for (const { file, rules } of files)
    for (const [index, { name, reason, notes = [] }] of rules.entries()) {
      const place = `${file}: rule ${index + 1} "${name}"`;
      if (names.has(name)) throw new Error(`${place}, name: another rule has it`);
      names.add(name);
      if (reason !== undefined && !Object.hasOwn(known.reasons, reason))
        throw new Error(`${place}, reason: "${reason}" is not described under reasons`);
      const note = notes.find((one) => !Object.hasOwn(known.notes, one));
      if (note !== undefined) throw new Error(`${place}, notes: "${note}" is not described under notes`);
    }
};

const checkDescriptions = (own: RulesFile, builtIn: RulesFile): void => {
  for (const kind of ["reasons", "notes"] as const) {
    const twice = Object.keys(own[kind]).find((name) => Object.hasOwn(builtIn[kind], name));
    if (twice !== undefined) throw new Error(`own rules: ${kind}.${twice}: is built in already`);
  }
};

/**
 * The rules of both texts; `own` is an administrator's file, whose rules come first. Throws an Error that names file,
 * rule and field of each problem, the first five.
 */
export const readJudgeRules = (texts: { builtIn: string; own?: string | undefined }): JudgeRules => {
  const builtIn = readFile(texts.builtIn, "built-in rules");
  const own = texts.own === undefined ? undefined : readFile(texts.own, "own rules");
  if (own) checkDescriptions(own, builtIn);
  const known = {
    ...builtIn,
    reasons: { ...builtIn.reasons, ...own?.reasons },
    notes: { ...builtIn.notes, ...own?.notes },
  };
  checkNames(
    [
      { file: "built-in rules", rules: builtIn.rules },
      { file: "own rules", rules: own?.rules ?? [] },
    ],
    known,
  );
  return {
    versions: { builtIn: builtIn.version, own: own?.version },
    reasons: known.reasons,
    notes: known.notes,
    rules: [...(own?.rules ?? []), ...builtIn.rules],
  };
};
