import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

export type BugRow = {
  name: string;
  breaks: string;
  /** The checks that found it; none: it was not found. */
  found: string[];
  seed?: number;
  /** The whole history, its rest and quiet time included. */
  seconds?: number;
};

const begin = "<!-- bugs:begin -->";
const end = "<!-- bugs:end -->";
const page = join(import.meta.dirname, "../../../docs/robustness.md");

export const bugTable = (rows: BugRow[]): string =>
  [
    "| bug | what it breaks | found by | seed | seconds |",
    "|---|---|---|---|---|",
    ...rows.map(({ name, breaks, found, seed, seconds }) => {
      const cells = [`\`${name}\``, breaks, found.join(", ") || "**not found**", seed ?? "", seconds?.toFixed(0) ?? ""];
      return `| ${cells.join(" | ")} |`;
    }),
  ].join("\n");

/** `text` with the table between its markers; throws when one is missing. */
export const withBugTable = (text: string, rows: BugRow[]): string => {
  const [start, stop] = [text.indexOf(begin), text.indexOf(end)];
  if (start < 0 || stop < start) throw new Error(`the markers ${begin} and ${end} are missing`);
  return `${text.slice(0, start + begin.length)}\n\n${bugTable(rows)}\n\n${text.slice(stop)}`;
};

/** Puts the table into docs/robustness.md; returns the page's name. */
export const writeBugTable = async (rows: BugRow[]): Promise<string> => {
  await writeFile(page, withBugTable(await readFile(page, "utf8"), rows));
  return "docs/robustness.md";
};
