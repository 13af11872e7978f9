import { type Format, show } from "../output.ts";
import { describe, findAll } from "./finding.ts";
import { machineChecks } from "./machine.ts";

/** Looks at this machine. `text`: the findings, as `output` says; `isWell`: no problem was found. */
export const doctor = async (
  { output, dataDir, port, product }: { output: Format; dataDir: string; port: number; product: string },
  signal: AbortSignal,
): Promise<{ text: string; isWell: boolean }> => {
  const findings = await findAll(await machineChecks({ dataDir, apiPort: port, product }), signal);
  const isWell = findings.every(({ state }) => state !== "problem");
  if (output === "table") return { text: describe(findings), isWell };
  const shown = output === "name" ? findings.filter(({ state }) => state === "problem") : findings;
  return { text: show(output, shown, { columns: [], nameOf: ({ name }) => name, none: "" }), isWell };
};
