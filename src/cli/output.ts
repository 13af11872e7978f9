/** How commands print objects: a table for people, or what programs read. */
import { styleText } from "node:util";
import { stringify } from "yaml";

/** What `-o` takes. */
export const formats = ["table", "json", "yaml", "name"] as const;

export type Format = (typeof formats)[number];

/** One column: its head, and the text of an object in it. */
export type Column<Item> = readonly [head: string, text: (item: Item) => string | number | undefined];

/** Control characters and line ends, which a name may have and a terminal would obey. */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

const cell = (value: string | number | undefined): string => String(value ?? "").replace(unprintable, "?") || "-";

const table = <Item>(items: readonly Item[], columns: readonly Column<Item>[]): string => {
  const rows = items.map((item) => columns.map(([, text]) => cell(text(item))));
  const widths = columns.map(([head], i) => Math.max(head.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    row
      .map((text, i) => text.padEnd(widths[i] ?? 0))
      .join("   ")
      .trimEnd();
  const head = styleText("bold", line(columns.map(([text]) => text)), { stream: process.stdout });
  return [head, ...rows.map(line)].join("\n");
};

/**
 * The text of these objects. `isOne`: what programs read is the object, not a list of it. `nameOf`: what `-o name`
 * prints of each, one a line. An empty table is the sentence `none`.
 */
export const show = <Item>(
  format: Format,
  items: readonly Item[],
  {
    columns,
    nameOf,
    none,
    isOne = false,
  }: { columns: readonly Column<Item>[]; nameOf: (item: Item) => string; none: string; isOne?: boolean },
): string => {
  const whole = isOne ? items[0] : items;
  if (format === "json") return JSON.stringify(whole, null, 2);
  if (format === "yaml") return stringify(whole).trimEnd();
  if (format === "name") return items.map(nameOf).join("\n");
  return items.length === 0 ? none : table(items, columns);
};

/** How long ago that was: `45s`, `12m`, `3h`, `2d`, as kubectl says it. */
export const age = (since: string, nowMs: number): string => {
  const seconds = Math.max(0, Math.floor((nowMs - Date.parse(since)) / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 120 * 60) return `${Math.floor(seconds / 60)}m`;
  return seconds < 48 * 3600 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`;
};
