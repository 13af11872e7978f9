/** The table of docs/mutations.md: how many mistakes of each area are found, and by what; and those that are not. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { table, withPart } from "../../scripts/marked-part.ts";
import { areaNames, areaOf } from "./all-mutations.ts";
import type { Mutation } from "./mutation.ts";
import { root } from "./tree.ts";
import type { Outcome } from "./try-mutation.ts";

const page = "docs/mutations.md";

export type Result = { mutation: Mutation; outcome: Outcome };

const percent = (part: number, whole: number): string => (whole === 0 ? "" : `${Math.floor((100 * part) / whole)} %`);

/** One row for each area and one for all: mistakes, found by unit tests, by others, not found. */
export const tableByArea = (results: readonly Result[]): string => {
  const row = (name: string, some: readonly Result[]): string[] => {
    const count = (found: Outcome["found"]): number => some.filter(({ outcome }) => outcome.found === found).length;
    const found = some.length - count("no");
    return [name, some.length, count("unit"), count("integration"), count("no"), percent(found, some.length)].map(
      String,
    );
  };
  const of = (area: string): Result[] => results.filter(({ mutation }) => areaOf(mutation) === area);
  const rows = [...areaNames.map((area) => row(area, of(area))), row("all", results)];
  return table(["area", "mistakes", "found by a unit test", "by another test", "not found", "found"], rows);
};

/** Those that are not found, each with the reason why that may be. */
export const tableOfUnfound = (results: readonly Result[]): string => {
  const unfound = results.filter(({ outcome }) => outcome.found === "no");
  if (unfound.length === 0) return "None.";
  const rows = unfound.map(({ mutation: { name, file, breaks, mayStay } }) => [
    `\`${name}\``,
    `\`${file}\``,
    breaks,
    mayStay ?? "",
  ]);
  return table(["mistake", "file", "what goes wrong", "why no test notices it"], rows);
};

/** Puts both tables into the page. */
export const writeTables = async (results: readonly Result[]): Promise<string> => {
  const path = join(root, page);
  const text = await readFile(path, "utf8");
  const first = withPart(text, { page, marker: "by-area", part: tableByArea(results) });
  await writeFile(path, withPart(first, { page, marker: "not-found", part: tableOfUnfound(results) }));
  return page;
};
