/**
 * Makes the table of docs/settings.md: names and effects from the schemas, the rest from scripts/settings. Refuses a
 * field without a row, a row without a field, and a test that is not there.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "./generated-file.ts";
import { generateParts, table } from "./marked-part.ts";
import { browserSettings } from "./settings/browser-settings.ts";
import { type Field, readFields } from "./settings/field-paths.ts";
import { onDemandSettings, poolSettings, sessionSettings } from "./settings/pool-settings.ts";
import type { FieldPath, Setting, ShownBy } from "./settings/setting.ts";
import { settingProblems } from "./settings/setting-problems.ts";
import { telemetrySettings } from "./settings/telemetry-settings.ts";

const page = "docs/settings.md";

const settings: Record<FieldPath, Setting> = {
  ...sessionSettings,
  ...poolSettings,
  ...browserSettings,
  ...onDemandSettings,
  ...telemetrySettings,
};

const code = (text: string | undefined): string => (text === undefined ? "—" : `\`${text}\``);

const timesOf = ({ takesHold: { pool, browser } }: Setting): string =>
  [pool && `pool: ${pool}`, browser && `browser: ${browser}`].filter(Boolean).join("; ");

const testsOf = (shownBy: ShownBy): string =>
  Object.entries(shownBy)
    .map(([file, titles]) => `[${file}](../${file}): ${titles.map((title) => `“${title}”`).join(", ")}`)
    .join("; ");

const rowOf = (field: Field, setting: Setting): string[] => [
  code(field.http),
  code(field.yaml),
  setting.effect ?? field.description,
  setting.by,
  timesOf(setting),
  (setting.needs ?? []).join(", "),
  `${setting.gap === undefined ? "" : `**Not yet:** ${setting.gap} `}${testsOf(setting.shownBy)}`,
];

/**
 * Prints how many fields have a gap. Writes the table, or with `check` compares it. Throws an Error that names every
 * wrong row.
 */
export const generateSettings = async (options: { check: boolean }): Promise<string> => {
  const fields = readFields();
  const rows = new Map<string, Setting>(Object.entries(settings));
  const problems = await settingProblems(fields, rows, (file) => readFile(join(root, file), "utf8"));
  if (problems.length > 0) throw new Error(problems.join("\n"));
  const gaps = [...rows].filter(([, { gap }]) => gap !== undefined).map(([path]) => `\`${path}\``);
  const count = `Of ${rows.size} fields, ${gaps.length} are not carried out whole yet`;
  if (gaps.length > 0) console.log(`settings: ${count.toLowerCase()} (${page})`);
  const head = ["HTTP", "YAML", "Effect", "Carried out by", "Takes hold", "Needs", "Shown by"];
  const body = fields.map((field) => rowOf(field, rows.get(field.path) as Setting));
  const parts = {
    settings: table(head, body),
    gaps: gaps.length === 0 ? `${count}.` : `${count}: ${gaps.join(", ")}.`,
  };
  return generateParts(page, parts, options);
};
