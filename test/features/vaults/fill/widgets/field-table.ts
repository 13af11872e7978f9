import type { Widget } from "./widgets.ts";

const said = (says: Widget["says"]): string => {
  if (says === "completed") return "completed";
  return "failed" in says ? `failed: \`${says.failed}\`` : `400 \`${says.refused}\``;
};

/** The table of docs/fillable-fields.md. */
export const fieldTable = (widgets: Record<string, Widget[]>): string => {
  const groups = Object.entries(widgets).map(([group, rows]) =>
    [
      `## ${group}`,
      "",
      "| field | how it is built | the fill says |",
      "|---|---|---|",
      ...rows.map(({ name, by, says }) => `| ${name} | ${by.replaceAll("|", "\\|")} | ${said(says)} |`),
    ].join("\n"),
  );
  return `<!-- fields -->\n\n${groups.join("\n\n")}\n`;
};
