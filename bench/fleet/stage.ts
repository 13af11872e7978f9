import type { Bench, Row } from "../section.ts";
import type { Fleet } from "./fleet.ts";
import { type Cores, countCores, describeCores } from "./parts.ts";

/** What one stage of the section found. `detail`: further data for the JSON. */
type Found = { rows: Row[]; detail?: unknown };
export type Stage = { name: string; summary: string; run(fleet: Fleet, bench: Bench): Promise<Found> };
export type StageDone = Found & { name: string; seconds: number; cores: Cores };

export const row = (what: string, unit: Row["unit"], measured: number, more: Partial<Row> = {}): Row => ({
  what,
  unit,
  measured,
  ...more,
});

/**
 * Runs a stage and says which parts of the installation kept the machine busy meanwhile: the busiest is what limits it.
 */
export const runStage = async ({ name, summary, run }: Stage, fleet: Fleet, bench: Bench): Promise<StageDone> => {
  bench.say(`${name}: ${summary}`);
  const cores = await countCores(await fleet.parts());
  const beganMs = performance.now();
  const found = await run(fleet, bench);
  const seconds = (performance.now() - beganMs) / 1000;
  const used = await cores();
  for (const { what, measured, unit } of found.rows) bench.say(`  ${what}: ${measured.toFixed(2)} ${unit}`);
  bench.say(`  ${seconds.toFixed(0)} s; cores: ${describeCores(used)}`);
  return { ...found, name, seconds, cores: used };
};
