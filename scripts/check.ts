/**
 * `npm run check`: checks everything in the repository that can be checked without running the product. Steps run side
 * by side. Each prints one line with its time; the errors of failed steps follow at the end.
 */
import { join } from "node:path";
import { environment } from "../src/platform/base/environment.ts";
import { checkArchitecture } from "./architecture.ts";
import { chartSteps } from "./chart/check-chart.ts";
import { workflowStep } from "./check-workflows.ts";
import { generators } from "./gen.ts";
import { root } from "./generated-file.ts";
import { MissingProgram, outputOf } from "./run-program.ts";
import type { Step } from "./step.ts";

/** Runs a program of an npm package to its end. Rejects with its output when it fails. */
const program = (name: string, ...args: string[]): Promise<string> =>
  outputOf(join(root, "node_modules", ".bin", name), args);

const architecture = async (): Promise<void> => {
  const violations = checkArchitecture();
  if (violations.length > 0) throw new Error(violations.join("\n"));
};

const inPages = [
  "src/features/telemetry/agent/in-page",
  "src/features/vaults/fill/in-page",
  "src/features/live-view/in-page",
  "src/features/console/in-page",
];

const steps: Step[] = [
  { name: "format and lint", run: () => program("biome", "ci", "--colors=off", "--max-diagnostics=200", ".") },
  { name: "types", run: () => program("tsc", "--pretty", "false") },
  ...inPages.map((folder) => ({
    name: `types of what runs in pages: ${folder}`,
    run: () => program("tsc", "--pretty", "false", "-p", folder),
  })),
  { name: "architecture", run: architecture },
  ...Object.entries(generators).map(([name, generate]) => ({
    name: `${name} up to date`,
    run: () => generate({ check: true }),
  })),
  ...chartSteps,
  workflowStep,
];

/** In CI no step may be skipped. */
const isCi = environment.CI === "true";

const seconds = (sinceMs: number): string => `${((performance.now() - sinceMs) / 1000).toFixed(1)} s`;

/** Runs one step. Returns its error text, or undefined when it passed or was skipped. */
const runStep = async ({ name, run }: Step): Promise<{ name: string; complaint: string } | undefined> => {
  const startMs = performance.now();
  try {
    await run();
    console.log(`ok      ${name} (${seconds(startMs)})`);
    return undefined;
  } catch (error) {
    if (error instanceof MissingProgram && !isCi) {
      console.log(`skipped  ${name}: ${error.message}`);
      return undefined;
    }
    console.log(`FAILED  ${name} (${seconds(startMs)})`);
    return { name, complaint: error instanceof Error ? error.message : String(error) };
  }
};

const startMs = performance.now();
const failures = (await Promise.all(steps.map(runStep))).filter((failure) => failure !== undefined);
for (const { name, complaint } of failures) console.log(`\n${name}:\n${complaint}`);
const summary = failures.length === 0 ? "all well" : `${failures.length} of ${steps.length} failed`;
console.log(`${failures.length === 0 ? "" : "\n"}check: ${summary} (${seconds(startMs)})`);
if (failures.length > 0) process.exitCode = 1;
