/** Ten thousand browsers in five hundred pools: what the installation uses for them, and how it bears losses. */
import { fillStage, restStage } from "../fleet/fill.ts";
import { firstContactStage } from "../fleet/first-contact.ts";
import { projectCount, replicaCount, startFleet } from "../fleet/fleet.ts";
import { flushStage } from "../fleet/flush.ts";
import { leaderStage, lostStage } from "../fleet/lost.ts";
import { runStage, type StageDone } from "../fleet/stage.ts";
import type { Bench, Section } from "../section.ts";

const poolSize = 20;

const measure = async (bench: Bench) => {
  const pools = Math.max(projectCount, Math.round(bench.browsers(10_000) / poolSize));
  bench.say("starting a cluster");
  await using fleet = await startFleet(bench);
  const done: StageDone[] = [];
  const stages = [fillStage(pools, poolSize), restStage, firstContactStage, lostStage, leaderStage, flushStage];
  for (const stage of stages) done.push(await runStage(stage, fleet, bench));
  return {
    rows: done.flatMap(({ rows }) => rows),
    detail: done.map(({ name, seconds, cores, detail }) => ({ name, seconds, cores, detail })),
  };
};

export const section: Section = {
  name: "fleet",
  summary: `pools of ${poolSize} in ${projectCount} projects, ${replicaCount} api replicas, a process of agents for each project`,
  run: measure,
};
