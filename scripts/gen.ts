/** Writes every generated file; with `--check`, compares instead and fails on any difference. */
import { generateAudit } from "./gen-audit.ts";
import { generateChartKinds } from "./gen-chart-kinds.ts";
import { generateChartValues } from "./gen-chart-values.ts";
import { generateCli } from "./gen-cli.ts";
import { generateConfigTable } from "./gen-config-table.ts";
import { generateCrds } from "./gen-crds.ts";
import { generateJudging } from "./gen-judging.ts";
import { generateManifests } from "./gen-manifests.ts";
import { generateMetrics } from "./gen-metrics.ts";
import { generateOpenApi } from "./gen-openapi.ts";
import { generatePermissions } from "./gen-permissions.ts";
import { generateSeededBugs } from "./gen-seeded-bugs.ts";
import { generateSettings } from "./gen-settings.ts";
import { generateTelemetry } from "./gen-telemetry.ts";

/** Every generator under the name of what it makes. Each returns the file or folder that it wrote. */
export const generators: Record<string, (options: { check: boolean }) => Promise<string>> = {
  "custom resource definitions": async (options) => {
    await generateCrds(options);
    return "crds/";
  },
  "kinds of the chart's roles": generateChartKinds,
  "table of the chart's values": generateChartValues,
  "rendered chart": generateManifests,
  "OpenAPI document": generateOpenApi,
  "tables of permissions": generatePermissions,
  "tables of the audit stream": generateAudit,
  "tables of the judge": generateJudging,
  "page of commands": generateCli,
  "table of telemetry events": generateTelemetry,
  "table of metrics": generateMetrics,
  "table of settings": generateConfigTable,
  "table of pools' and browsers' settings": generateSettings,
  "table of seeded bugs": generateSeededBugs,
};

const run = async (): Promise<void> => {
  const check = process.argv.includes("--check");
  for (const [what, generate] of Object.entries(generators))
    try {
      const name = await generate({ check });
      console.log(check ? `${what}: up to date` : `${what}: wrote ${name}`);
    } catch (error) {
      console.error(`${what}: ${(error as Error).message}`);
      process.exitCode = 1;
    }
};

if (import.meta.main) await run();
