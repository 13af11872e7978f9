/**
 * `npm run check`: everything that can be said of the repository without running it. Steps run side by side; each gives one
 * line with its time, and what it complains about after all of them.
 */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { checkArchitecture } from "./architecture.ts";
import { generators } from "./gen.ts";
import { root } from "./generated-file.ts";

/** Rejects with what is wrong. */
type Step = { name: string; run(): Promise<unknown> };

/** A program of a package, run to its end; rejects with what it has printed when it fails. */
const program = async (name: string, ...args: string[]): Promise<void> => {
  const child = spawn(join(root, "node_modules", ".bin", name), args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  const code = new Promise<number | null>((resolve, reject) => child.on("error", reject).on("close", resolve));
  const [out, err, status] = await Promise.all([text(child.stdout), text(child.stderr), code]);
  if (status !== 0) throw new Error(`${out}${err}`.trim() || `${name} ended with ${status}`);
};

const architecture = async (): Promise<void> => {
  const violations = checkArchitecture().map((violation) => `src/${violation}`);
  if (violations.length > 0) throw new Error(violations.join("\n"));
};

const steps: Step[] = [
  { name: "format and lint", run: () => program("biome", "ci", "--colors=off", "--max-diagnostics=200", ".") },
  { name: "types", run: () => program("tsc", "--pretty", "false") },
  { name: "types of what runs in pages", run: () => program("tsc", "--pretty", "false", "-p", "src/fill/in-page") },
  { name: "architecture", run: architecture },
  ...Object.entries(generators).map(([name, generate]) => ({
    name: `${name} up to date`,
    run: () => generate({ check: true }),
  })),
];

const seconds = (sinceMs: number): string => `${((performance.now() - sinceMs) / 1000).toFixed(1)} s`;

/** Runs one step; returns its complaint, undefined when there is none. */
const runStep = async ({ name, run }: Step): Promise<{ name: string; complaint: string } | undefined> => {
  const startMs = performance.now();
  try {
    await run();
    console.log(`ok      ${name} (${seconds(startMs)})`);
    return undefined;
  } catch (error) {
    console.log(`FAILED  ${name} (${seconds(startMs)})`);
    return { name, complaint: error instanceof Error ? error.message : String(error) };
  }
};

const startMs = performance.now();
const failures = (await Promise.all(steps.map(runStep))).filter((failure) => failure !== undefined);
for (const { name, complaint } of failures) console.log(`\n${name}:\n${complaint}`);
const verdict = failures.length === 0 ? "all well" : `${failures.length} of ${steps.length} failed`;
console.log(`${failures.length === 0 ? "" : "\n"}check: ${verdict} (${seconds(startMs)})`);
if (failures.length > 0) process.exitCode = 1;
