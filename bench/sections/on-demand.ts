/** From a request to a page that runs script: a pooled browser, one on demand from stock, and one that starts. */
import { setTimeout as sleep } from "node:timers/promises";
import { createLogger } from "../../src/platform/base/log.ts";
import { fullBlankPool } from "../../test/support/blank-pool.ts";
import { type Cluster, startCluster } from "../../test/support/cluster.ts";
import { startCollector } from "../../test/support/collector.ts";
import { type Call, fullPool } from "../../test/support/pool-client.ts";
import { unboundedCallers } from "../../test/support/simulated-node/simulated-cluster.ts";
import { interleaved } from "../interleaved.ts";
import { type Stage, type StartTrace, stages, traceStarts } from "../on-demand/start-stages.ts";
import { bareLaunch, directTo, launch, onDemand, pooled, type Way } from "../on-demand/usable-page.ts";
import type { Bench, Row, Section } from "../section.ts";
import { type Summary, summarize } from "../statistics.ts";

const atOnce = 4;
/** The machine has calmed down after an end and a refill, ms. */
const calmMs = 700;

/** `together`: how many at a time. `refilled`: resolves when stock is as it was before. */
type Times = { seconds: number; bench: Bench; together?: number; refilled?: () => Promise<void> };

/** Times of each way, by turns, ms. */
const timesOf = async <Name extends string>(
  ways: Record<Name, Way>,
  { seconds, bench, together = 1, refilled }: Times,
): Promise<Record<Name, Summary>> => {
  const open: { end(): Promise<void> }[] = [];
  const measured = async (way: Way): Promise<void> =>
    void open.push(...(await Promise.all(Array.from({ length: together }, way))));
  const variants = Object.fromEntries(
    Object.entries<Way>(ways).map(([name, way]) => [name, () => measured(way)]),
  ) as Record<Name, () => Promise<void>>;
  const tidy = async (): Promise<void> => {
    await Promise.all(open.splice(0).map((one) => one.end()));
    await refilled?.();
    await sleep(calmMs, undefined, { signal: bench.signal });
  };
  const times = await interleaved({ seconds, batch: 1, random: bench.random(), signal: bench.signal, tidy }, variants);
  return Object.fromEntries(
    Object.entries<number[]>(times).map(([name, series]) => [name, summarize(series)]),
  ) as Record<Name, Summary>;
};

const ratio = (what: string, measured: Summary, floor: { what: string; of: Summary }, atMost: number): Row => ({
  what,
  unit: "ms",
  measured: measured.p50,
  floor: { what: floor.what, value: floor.of.p50 },
  target: { of: "ratio", atMost },
});

/** How long each stage of a start takes, ms. The first start does not count. */
const stageTimes = async (
  trace: Pick<StartTrace, "start">,
  { seconds, bench }: { seconds: number; bench: Bench },
): Promise<Record<Stage, Summary>> => {
  await trace.start();
  const starts: Record<Stage, number>[] = [];
  const untilMs = performance.now() + seconds * 1000;
  while (performance.now() < untilMs) {
    await sleep(calmMs, undefined, { signal: bench.signal });
    starts.push(await trace.start());
  }
  const names = Object.keys(stages) as Stage[];
  return Object.fromEntries(names.map((name) => [name, summarize(starts.map((start) => start[name]))])) as Record<
    Stage,
    Summary
  >;
};

const stageRows = (times: Record<Stage, Summary>): Row[] =>
  (Object.keys(stages) as Stage[]).map((stage) => ({
    what: `  until ${stages[stage]}`,
    unit: "ms",
    measured: times[stage].p50,
  }));

/** Of settings that no pool has, from stock, which is gone when it resolves. */
const measureBlank = async ({ cluster, call, seconds, bench }: { cluster: Cluster; call: Call } & Times) => {
  const size = 2 * atOnce;
  const stock = await fullBlankPool(cluster.kube, cluster.namespace, { size });
  const ways = { bare: bareLaunch, blank: onDemand(call, { viewport: { width: 1280, height: 720 } }) };
  const refilled = (): Promise<void> => stock.whenAvailable(size);
  const alone = await timesOf(ways, { seconds, bench, refilled });
  const four = await timesOf(ways, { seconds, bench, refilled, together: atOnce });
  await stock.remove();
  return { alone, four };
};

const measure = async (bench: Bench) => {
  bench.say("starting a cluster with real browsers");
  await using collector = await startCollector();
  // Only what asks for it is traced.
  const tracing = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, OTEL_TRACES_SAMPLER_ARG: "0" };
  await using cluster = await startCluster({ env: { ...unboundedCallers, ...tracing } });
  await cluster.startOperator("operator").logged("leading");
  const api = await cluster.startApi("api");
  const { call } = api;
  const seconds = bench.seconds(40);
  await using warm = {
    ...(await launch()),
    async [Symbol.asyncDispose]() {
      await this.close();
    },
  };
  const direct = directTo(warm.browser.wsEndpoint());
  const pool = await fullPool(call, 2, { reuse_policy: "keep" });
  bench.say(`starting browsers, bare and on demand, ${seconds} s`);
  const alone = await timesOf({ bare: bareLaunch, start: onDemand(call) }, { seconds, bench });
  bench.say(`${atOnce} at a time, ${seconds} s`);
  const four = await timesOf({ bare: bareLaunch, start: onDemand(call) }, { seconds, bench, together: atOnce });
  bench.say(`blank browsers, ${seconds} s twice`);
  const blank = await measureBlank({ cluster, call, seconds, bench });
  bench.say(`stages of a start, ${seconds} s`);
  await using trace = await traceStarts(cluster, { api, collector, log: createLogger("warn", "bench") });
  const parts = await stageTimes(trace, { seconds, bench });
  await fullPool(call, 2, { serve_on_demand: true });
  bench.say(`pooled, from stock and direct, ${seconds} s`);
  const taken = await timesOf({ direct, pooled: pooled(pool), stock: onDemand(call) }, { seconds, bench });
  return {
    rows: [
      ratio("POST /browsers that starts a browser", alone.start, { what: "bare launch", of: alone.bare }, 1.5),
      ...stageRows(parts),
      ratio(`${atOnce} at a time`, four.start, { what: `${atOnce} bare launches`, of: four.bare }, 1.5),
      ratio("POST /browsers of a blank browser", blank.alone.blank, { what: "bare launch", of: blank.alone.bare }, 1.3),
      ratio(`${atOnce} at a time`, blank.four.blank, { what: `${atOnce} bare launches`, of: blank.four.bare }, 1.6),
      ratio("a pooled browser", taken.pooled, { what: "connection to a warm Chromium", of: taken.direct }, 1.25),
      ratio("POST /browsers from stock", taken.stock, { what: "a pooled browser", of: taken.pooled }, 1.5),
    ],
    detail: { alone, four, blank, parts, taken },
  };
};

export const section: Section = {
  name: "on-demand",
  summary: "from a request to a page that runs script",
  run: measure,
};
