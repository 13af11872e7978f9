/**
 * How an autoscaled pool follows loads: the real operator, API and Redis, with simulated browsers that start in 2 to 3
 * s.
 */
import { startSimulatedCluster } from "../../test/support/simulated-node/simulated-cluster.ts";
import { scenarios } from "../autoscale/scenarios.ts";
import { runScenario, type Trace } from "../autoscale/trace.ts";
import type { Bench, Row, Section } from "../section.ts";
import { summarize } from "../statistics.ts";

/** The sum over the time, e.g. browser-seconds. */
const integral = ({ moments }: Trace, value: (moment: Trace["moments"][number]) => number): number =>
  moments.reduce((sum, moment, place) => {
    const next = moments[place + 1]?.second ?? moment.second;
    return sum + value(moment) * (next - moment.second);
  }, 0);

/** How often the size goes the other way than before. */
const turns = ({ moments }: Trace): number => {
  const sizes = moments.map(({ size }) => size).filter((size, place, all) => size !== all[place - 1]);
  return sizes.filter((size, place) => {
    const [before, after] = [sizes[place - 1], sizes[place + 1]];
    return before !== undefined && after !== undefined && Math.sign(size - before) !== Math.sign(after - size);
  }).length;
};

/** Turns that the load itself asks for: one up and down, for to-zero one for each visit and gap. */
const wantedTurns: Record<string, number> = { "square-wave": 1, ramp: 1, schedule: 2, "to-zero": 5 };

const rowsOf = (trace: Trace): Row[] => {
  const waits = summarize(trace.waits);
  const peak = Math.max(...trace.moments.map(({ size }) => size));
  const fixed = { what: "a pool that always has its highest size", value: integral(trace, () => peak) };
  return [
    {
      what: `${trace.name}: seconds of browsers`,
      unit: "count",
      measured: integral(trace, ({ size }) => size),
      floor: fixed,
    },
    {
      what: `${trace.name}: turns of the size`,
      unit: "count",
      measured: turns(trace),
      target: { of: "measured", atMost: wantedTurns[trace.name] ?? 0 },
    },
    { what: `${trace.name}: a caller waits, p50`, unit: "ms", measured: waits.p50 },
    { what: `${trace.name}: a caller waits, longest`, unit: "ms", measured: waits.max },
  ];
};

const measure = async ({ signal, say }: Bench) => {
  say("starting a cluster");
  await using cluster = await startSimulatedCluster({ starts: { delayMs: 2000, jitterMs: 1000 }, seed: 1 });
  const api = await cluster.startApi("api");
  await cluster.startOperator("operator").logged("leading");
  const traces: Trace[] = [];
  for (const scenario of scenarios) {
    say(`${scenario.title} (${scenario.seconds} s)`);
    traces.push(await runScenario(scenario, { cluster, api, signal }));
  }
  return { rows: traces.flatMap(rowsOf), detail: traces };
};

export const section: Section = {
  name: "autoscale",
  summary: "how an autoscaled pool follows a square wave, a ramp, a schedule, and calls far apart",
  run: measure,
};
