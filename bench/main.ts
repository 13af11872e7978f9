/**
 * `npm run bench`: runs sections one after another, each against a floor that it measures in the same run, prints one
 * table and writes all figures as JSON. The exit code is 0 when everything could be measured, whether or not the
 * targets are met.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { inspect } from "node:util";
import { seededRandom } from "../test/support/seeded-random.ts";
import { type AssessedRow, assess } from "./assess.ts";
import { loadSections } from "./load-sections.ts";
import { describeMachine, type Machine } from "./machine.ts";
import { type Options, readOptions } from "./options.ts";
import type { Bench, Section } from "./section.ts";
import { formatQuantity, formatTable } from "./table.ts";

const usage = `usage: npm run bench -- [--only name,name] [--seconds N] [--leases N] [--browsers N] [--browserless DIR] [--seed N] [--json FILE] [--help]

  --only name,name   these sections, in this order (default: all)
  --seconds N        how long each series is measured (default: set by the section)
  --leases N         how many leases a section makes that counts them (ended: 50000, week: 2000000)
  --browsers N       how many browsers the section "fleet" plays (default 10000)
  --browserless DIR  the section "throughput" compares with browserless too, which npm has installed in this folder
  --seed N           seed of all random choices (default 1)
  --json FILE        where the figures go (default: a new file in bench/results)

`;

type Done = { section: string; seconds: number; rows: AssessedRow[]; detail?: unknown; error?: string };

const say = (text: string): void => void process.stderr.write(`${text}\n`);

const runSection = async (section: Section, bench: Bench): Promise<Done> => {
  say(`${section.name}: ${section.summary}`);
  const beganMs = performance.now();
  const seconds = (): number => (performance.now() - beganMs) / 1000;
  try {
    const { rows, detail } = await section.run(bench);
    return {
      section: section.name,
      seconds: seconds(),
      rows: rows.map(assess),
      ...(detail !== undefined && { detail }),
    };
  } catch (error) {
    say(`${section.name} failed: ${inspect(error)}`);
    return { section: section.name, seconds: seconds(), rows: [], error: String(error) };
  }
};

const defaultFile = (): string =>
  join(import.meta.dirname, "results", `${new Date().toISOString().replaceAll(/[:.]/g, "-")}.json`);

const report = async (done: Done[], machine: Machine, { jsonFile = defaultFile(), seed }: Options): Promise<void> => {
  const rows = done.flatMap(({ section, rows: own }) => own.map((row) => ({ section, row })));
  const missed = rows.filter(({ row }) => row.met === false).length;
  const failed = done.filter(({ error }) => error !== undefined).map(({ section }) => section);
  const { cores, cpu, memoryBytes, node, commit, loadBefore } = machine;
  process.stdout.write(
    [
      "",
      formatTable(rows),
      "",
      `${cores} cores (${cpu}), ${formatQuantity(memoryBytes, "bytes")}, Node ${node}, commit ${commit ?? "unknown"}, load before ${loadBefore.toFixed(2)}`,
      `${rows.filter(({ row }) => row.met).length} targets met, ${missed} missed`,
      ...(failed.length > 0 ? [`could not be measured: ${failed.join(", ")}`] : []),
      "",
    ].join("\n"),
  );
  await mkdir(dirname(jsonFile), { recursive: true });
  await writeFile(jsonFile, `${JSON.stringify({ machine, seed, sections: done }, undefined, 2)}\n`);
  say(`figures: ${jsonFile}`);
};

const run = async (options: Options): Promise<number> => {
  const sections = await loadSections(options.only);
  if (options.help) {
    const names = sections.map(({ name, summary }) => `  ${name.padEnd(12)} ${summary}\n`);
    process.stdout.write(`${usage}Sections:\n${names.join("")}`);
    return 0;
  }
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => stop.abort(new Error(`stopped by ${signal}`)));
  const bench: Bench = {
    seconds: (fallback) => options.seconds ?? fallback,
    leases: (fallback) => options.leases ?? fallback,
    browsers: (fallback) => options.browsers ?? fallback,
    browserless: options.browserless,
    signal: stop.signal,
    random: () => seededRandom(options.seed),
    say: (text) => say(`  ${text}`),
  };
  const machine = await describeMachine();
  const done: Done[] = [];
  for (const section of sections) {
    done.push(await runSection(section, bench));
    if (stop.signal.aborted) return 130;
  }
  await report(done, machine, options);
  return done.some(({ error }) => error !== undefined) ? 1 : 0;
};

try {
  process.exitCode = await run(readOptions(process.argv.slice(2)));
} catch (error) {
  process.stderr.write(`bench: ${(error as Error).message}\n${usage}`);
  process.exitCode = 1;
}
