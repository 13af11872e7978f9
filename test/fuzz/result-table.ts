/** What came of a run, as a table for people and as a file. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { keepFolder } from "./finding.ts";
import type { TargetResult } from "./run-target.ts";

const thousands = (count: number): string => Math.round(count).toLocaleString("en");

const head = [
  "target",
  "seed",
  "cases",
  "cases a second",
  "cases a second of processor",
  "longest case, ms",
  "findings",
];

const rowOf = ({ target, seed, cases, ms, processorMs, longestMs, findings, isBrokenOff }: TargetResult): string[] => [
  target,
  `${seed}`,
  `${thousands(cases)}${isBrokenOff ? ", broken off" : ""}`,
  thousands(cases / (ms / 1000)),
  thousands(cases / (processorMs / 1000)),
  thousands(longestMs),
  `${findings.length}`,
];

/** In Markdown, one line for each run of a target. */
export const tableOf = (results: readonly TargetResult[]): string =>
  [head, head.map(() => "---"), ...results.map(rowOf)].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

/** Writes the results of the last run; returns the file. */
export const writeResults = async (results: readonly TargetResult[], folder = keepFolder): Promise<string> => {
  await mkdir(folder, { recursive: true });
  const file = join(folder, "results.json");
  await writeFile(file, `${JSON.stringify(results, undefined, 2)}\n`);
  return file;
};
