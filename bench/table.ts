import type { AssessedRow } from "./assess.ts";
import type { Unit } from "./section.ts";

const prefixes = [
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
] as const;

const digits = (value: number): string =>
  Math.abs(value) >= 100 ? value.toFixed(0) : Math.abs(value) >= 10 ? value.toFixed(1) : value.toPrecision(3);

/** A figure in readable form: three digits, and bytes in kB, MB or GB. */
export const formatQuantity = (value: number, unit: Unit): string => {
  if (!Number.isFinite(value)) return "none";
  if (unit === "count") return String(Number.isInteger(value) ? value : digits(value));
  if (unit === "ms") return `${digits(value)} ms`;
  if (unit === "1/s") return `${digits(value)}/s`;
  const [scale, prefix] = prefixes.find(([least]) => Math.abs(value) >= least) ?? [1, ""];
  return `${digits(value / scale)} ${prefix}${unit === "bytes" ? "B" : "B/s"}`;
};

const formatTarget = ({ target, unit }: AssessedRow): string => {
  if (!target) return "";
  const [sign, bound] = "atMost" in target ? ["≤", target.atMost] : ["≥", target.atLeast];
  if (target.of === "ratio") return `${sign} ${bound} ×`;
  return `${target.of === "added" ? "added " : ""}${sign} ${formatQuantity(bound, unit)}`;
};

const cells = (section: string, row: AssessedRow): string[] => [
  section,
  row.what,
  formatQuantity(row.measured, row.unit),
  row.floor ? `${formatQuantity(row.floor.value, row.unit)} (${row.floor.what})` : "",
  row.ratio === undefined ? "" : `${digits(row.ratio)} ×`,
  row.added === undefined ? "" : formatQuantity(row.added, row.unit),
  formatTarget(row),
  row.met === undefined ? "" : row.met ? "met" : "MISSED",
];

const head = ["section", "what", "measured", "floor", "ratio", "added", "target", ""];

/** All rows of a run as text, one line each, with aligned columns. */
export const formatTable = (rows: readonly { section: string; row: AssessedRow }[]): string => {
  const lines = [head, ...rows.map(({ section, row }) => cells(section, row))];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const format = (line: string[]): string =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  const rule = widths.map((width) => "─".repeat(width)).join("  ");
  const [first = [], ...rest] = lines;
  return [format(first), rule, ...rest.map(format)].join("\n");
};
