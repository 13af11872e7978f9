/** Makes the table of settings in README.md from src/config.ts. The text outside the two markers is written by hand. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { configTable } from "../src/config.ts";
import { generateFile, root } from "./generated-file.ts";

const begin = "<!-- configuration:begin -->";
const end = "<!-- configuration:end -->";

const cell = (text: string): string => text.replaceAll("|", "\\|");
const code = (text: string): string => (text === "" ? "" : `\`${cell(text)}\``);

/** One row for each variable, under a heading row. */
const tableText = (): string =>
  [
    "| Variable | Default | Meaning |",
    "| --- | --- | --- |",
    ...configTable().map(({ name, fallback, text }) => `| ${code(name)} | ${code(fallback)} | ${cell(text)} |`),
  ].join("\n");

/** `text` with the table between its markers. Throws an Error when a marker is missing. */
export const withConfigTable = (text: string): string => {
  const start = text.indexOf(begin);
  const stop = text.indexOf(end, start);
  if (start < 0 || stop < 0) throw new Error(`README.md: the markers ${begin} and ${end} are missing`);
  return `${text.slice(0, start + begin.length)}\n\n${tableText()}\n\n${text.slice(stop)}`;
};

/**
 * Writes the table, or with `check` compares it. Returns what it wrote. Throws an Error when it is stale or README.md lacks
 * the markers.
 */
export const generateConfigTable = async ({ check }: { check: boolean }): Promise<string> => {
  const path = join(root, "README.md");
  const text = await readFile(path, "utf8").catch(() => undefined);
  if (text !== undefined) return generateFile(path, withConfigTable(text), { check });
  if (check) throw new Error("README.md is missing, and with it the table of settings");
  return "nothing: there is no README.md for the table of settings";
};
