/** Makes the table of settings in docs/configuration.md from src/core/config/variables.ts. */
import { configTable } from "../src/core/config/variables.ts";
import { generateParts, table } from "./marked-part.ts";

const code = (text: string): string => (text === "" ? "" : `\`${text}\``);

/** Writes the table, or with `check` compares it. Returns what it wrote. Throws an Error when it is stale. */
export const generateConfigTable = (options: { check: boolean }): Promise<string> => {
  const rows = configTable().map(({ name, fallback, text }) => [code(name), code(fallback), text]);
  return generateParts(
    "docs/configuration.md",
    { configuration: table(["Variable", "Default", "Meaning"], rows) },
    options,
  );
};
