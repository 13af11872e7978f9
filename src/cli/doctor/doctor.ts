import { stringify } from "yaml";
import type { Format } from "../output.ts";
import { describe, findAll } from "./finding.ts";
import { machineChecks } from "./machine.ts";

/** Looks at this machine. `text`: the findings, as `output` says; `isWell`: no problem was found. */
export const doctor = async (
  { output, dataDir, port, product }: { output: Format; dataDir: string; port: number; product: string },
  signal: AbortSignal,
): Promise<{ text: string; isWell: boolean }> => {
  const findings = await findAll(await machineChecks({ dataDir, apiPort: port, product }), signal);
  const isWell = findings.every(({ state }) => state !== "problem");
  const texts: Record<Format, () => string> = {
    table: () => describe(findings),
    json: () => JSON.stringify(findings, null, 2),
    yaml: () => stringify(findings).trimEnd(),
    name: () =>
      findings
        .filter(({ state }) => state === "problem")
        .map(({ name }) => name)
        .join("\n"),
  };
  return { text: texts[output](), isWell };
};
