/** Makes the table of docs/telemetry.md: every type of event, from its schema. */
import { telemetryEventTypes } from "../src/features/telemetry/telemetry-event.ts";
import { generateParts, table } from "./marked-part.ts";

const page = "docs/telemetry.md";

/** Writes the table, or with `check` compares it. Returns the page. */
export const generateTelemetry = (options: { check: boolean }): Promise<string> => {
  const rows = Object.entries(telemetryEventTypes).map(([type, { category, about, data }]) => [
    `\`${type}\``,
    category,
    about,
    Object.keys(data.shape)
      .map((field) => `\`${field}\``)
      .join(", "),
  ]);
  return generateParts(page, { events: table(["Type", "Category", "Tells", "Data"], rows) }, options);
};
