import type { SourceTree, Violation } from "./source-tree.ts";

type Slots = Set<string>;

const isInclude = (file: string): boolean => file.includes("/includes/");

/** The comment at the top of a script, after its flags (`#!lua`), and the code under it. */
const split = (text: string): { header: string[]; code: string } => {
  const lines = text.replace(/^#!lua .*\n/, "").split("\n");
  const end = lines.findIndex((line) => !line.startsWith("--"));
  return {
    header: lines.slice(0, end),
    code: lines
      .slice(end)
      .map((line) => line.replace(/--.*/, ""))
      .join("\n"),
  };
};

/** Slots that a header describes at the start of a line; `ARGV[5…]` is the rest of the arguments: `ARGV[…]`. */
const documentedSlots = (header: string[]): Slots =>
  new Set(
    header.flatMap((line) => {
      const [, list, index, more] = /^-- (KEYS|ARGV)\[(\d+)(…?)\]/.exec(line) ?? [];
      if (list === undefined) return [];
      return [more === "" ? `${list}[${index}]` : `${list}[…]`];
    }),
  );

/** Slots that code reads; `#ARGV` and `ARGV[i]` read the rest of the arguments. */
const usedSlots = (code: string): Slots =>
  new Set(
    [...code.matchAll(/#(KEYS|ARGV)\b|\b(KEYS|ARGV)\[(?:(\d+)|[^\]]*)\]/g)].map(([, counted, list, index]) =>
      index === undefined ? `${counted ?? list}[…]` : `${list}[${index}]`,
    ),
  );

const without = (slots: Slots, others: Slots): string[] => [...slots].filter((slot) => !others.has(slot));

const includedFiles = (header: string[]): string[] =>
  header.flatMap((line) => /^-- @include (.+)$/.exec(line)?.[1]?.split(" ") ?? []);

const scriptProblems = (file: string, text: string, files: SourceTree): string[] => {
  const { header, code } = split(text);
  const [documented, used, includes] = [documentedSlots(header), usedSlots(code), includedFiles(header)];
  const folder = file.slice(0, file.lastIndexOf("/"));
  return [
    ...(header.length === 0 ? ["has no header"] : []),
    ...(header.some((line) => line.startsWith("-- Returns ")) ? [] : ["does not say what it returns"]),
    ...without(used, documented).map((slot) => `uses ${slot}, which its header does not describe`),
    ...without(documented, used).map((slot) => `describes ${slot}, which it does not use`),
    ...includes
      .filter((name) => !files.has(`${folder}/includes/${name}.lua`))
      .map((name) => `includes ${name}, which is not there`),
    ...(includes.includes("keys") && [...used].some((slot) => slot.startsWith("KEYS"))
      ? ["includes keys and uses KEYS besides"]
      : []),
  ];
};

/**
 * Includes take what they need as arguments; includes/keys.lua alone names the keys, which every script gets in one
 * order.
 */
const includeProblems = (file: string, text: string): string[] => {
  const { header, code } = split(text);
  const used = [...usedSlots(code)].filter((slot) => !(file.endsWith("/keys.lua") && slot.startsWith("KEYS")));
  return [
    ...(header.length === 0 ? ["has no header"] : []),
    ...used.map((slot) => `uses ${slot}; an include takes arguments`),
  ];
};

/** Where the Lua scripts of `tree` and their headers differ. */
export const checkLua = (tree: SourceTree): Violation[] =>
  [...tree]
    .filter(([file]) => file.endsWith(".lua"))
    .flatMap(([file, text]) =>
      (isInclude(file) ? includeProblems(file, text) : scriptProblems(file, text, tree)).map(
        (problem) => `${file} ${problem}`,
      ),
    );
