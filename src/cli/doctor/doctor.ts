import { type Format, show } from "../output.ts";
import { type Check, describe, findAll } from "./finding.ts";

/** Makes the checks. `text`: the findings, as `output` says; `isWell`: no problem was found. */
export const doctor = async (
  checks: readonly Check[],
  output: Format,
  signal: AbortSignal,
): Promise<{ text: string; isWell: boolean }> => {
  const findings = await findAll(checks, signal);
  const isWell = findings.every(({ state }) => state !== "problem");
  if (output === "table") return { text: describe(findings), isWell };
  const shown = output === "name" ? findings.filter(({ state }) => state === "problem") : findings;
  return { text: show(output, shown, { columns: [], nameOf: ({ name }) => name, none: "" }), isWell };
};
