/** Generated tables in pages that are otherwise written by hand. Markers in the page say where a table is. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { generateFile, root } from "./generated-file.ts";

/**
 * `text` with `part` between the markers of this name. Throws an Error when a marker is missing. `page`: for that
 * error.
 */
const withPart = (text: string, { page, marker, part }: { page: string; marker: string; part: string }): string => {
  const [begin, end] = [`<!-- ${marker}:begin -->`, `<!-- ${marker}:end -->`];
  const start = text.indexOf(begin);
  const stop = text.indexOf(end, start);
  if (start < 0 || stop < 0) throw new Error(`${page}: the markers ${begin} and ${end} are missing`);
  return `${text.slice(0, start + begin.length)}\n\n${part}\n\n${text.slice(stop)}`;
};

const cell = (text: string): string => text.replaceAll("|", "\\|");

/** A table in Markdown. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string => {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
};

/**
 * Writes the parts of a page (marker → text), or with `check` compares them. Returns what it wrote. Throws an Error
 * when a part is stale, or the page or a marker is missing.
 */
export const generateParts = async (
  page: string,
  parts: Record<string, string>,
  { check }: { check: boolean },
): Promise<string> => {
  const path = join(root, page);
  let text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new Error(`${page} is missing, and with it a generated table`, { cause });
  });
  for (const [marker, part] of Object.entries(parts)) text = withPart(text, { page, marker, part });
  return generateFile(path, text, { check });
};
