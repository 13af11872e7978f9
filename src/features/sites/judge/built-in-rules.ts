import { readFileSync } from "node:fs";

/** The text of the rules that come with the service. */
export const builtInRules = readFileSync(new URL("rules.yaml", import.meta.url), "utf8");
