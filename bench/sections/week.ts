/**
 * As many leases as an installation has in a week, one after another: what grows with them, and whether the last ones
 * are slower.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createLogger } from "../../src/platform/base/log.ts";
import { connectRedis, whenReady } from "../../src/platform/redis/connection.ts";
import { fullPool } from "../../test/support/pool-client.ts";
import { startSimulatedCluster } from "../../test/support/simulated-node/simulated-cluster.ts";
import { findInfrastructure, type Parts } from "../fleet/parts.ts";
import type { WeekLoad, WeekTimes } from "../leases/week-load.ts";
import { runInOwnProcess } from "../own-process.ts";
import { residentBytesOf } from "../process-time.ts";
import type { Bench, Row, Section } from "../section.ts";
import { summarize } from "../statistics.ts";

const pools = 4;
const poolSize = 50;
const callersEach = 2;
const sampleEveryMs = 5000;
/** Node's heap in a container with the chart's limit of 512 MiB. */
const heapAsInContainer = "--max-old-space-size=256";
const loadFile = join(import.meta.dirname, "../leases/week-load.ts");

/** Bytes of each part at one moment; Redis' own count, the others' resident memory. */
type Sample = Record<string, number>;

const sampleOf = async (parts: Parts, redisBytes: () => Promise<number>): Promise<Sample> => ({
  ...Object.fromEntries(
    await Promise.all([...parts].map(async ([name, [pid = 0]]) => [name, await residentBytesOf(pid)] as const)),
  ),
  "redis-server": await redisBytes(),
});

/** How much larger a part was on average in the last quarter of the time than in the third one. */
const growth = (samples: Sample[], name: string): { before: number; after: number } => {
  const mean = (some: Sample[]): number => some.reduce((sum, sample) => sum + (sample[name] ?? 0), 0) / some.length;
  const quarter = Math.max(1, Math.floor(samples.length / 4));
  return { before: mean(samples.slice(-2 * quarter, -quarter)), after: mean(samples.slice(-quarter)) };
};

const rowsOf = ({ seconds, acquireMs, errors }: WeekTimes, samples: Sample[], leases: number): Row[] => {
  const tenths = acquireMs.map(summarize);
  const [first, last] = [tenths[0], tenths.at(-1)];
  const failed = Object.values(errors).reduce((sum, count) => sum + count, 0);
  return [
    { what: "leases", unit: "count", measured: leases },
    { what: "leases a second", unit: "1/s", measured: leases / seconds },
    { what: "calls that failed", unit: "count", measured: failed, target: { of: "measured", atMost: 0 } },
    ...(["p50", "p99"] as const).map(
      (share): Row => ({
        what: `acquire ${share} of the last tenth`,
        unit: "ms",
        measured: last?.[share] ?? Number.NaN,
        floor: { what: "first tenth", value: first?.[share] ?? Number.NaN },
        ...(share === "p99" && { target: { of: "ratio", atMost: 1.2 } }),
      }),
    ),
    ...Object.keys(samples[0] ?? {}).map((name): Row => {
      const { before, after } = growth(samples, name);
      return {
        what: `memory of ${name}, last quarter`,
        unit: "bytes",
        measured: after,
        floor: { what: "third quarter", value: before },
        target: { of: "ratio", atMost: 1.05 },
      };
    }),
  ];
};

const measure = async (bench: Bench) => {
  const leases = bench.leases(2_000_000);
  bench.say("starting a cluster");
  await using cluster = await startSimulatedCluster({ env: { NODE_OPTIONS: heapAsInContainer } });
  const operator = cluster.startOperator("operator");
  await operator.logged("leading");
  const api = await cluster.startApi("api");
  const full = [];
  for (let index = 0; index < pools; index++) full.push(await fullPool(api.call, poolSize));
  const redis = connectRedis(cluster.redisUrl, createLogger("silent", "bench"));
  await whenReady(redis, 10_000);
  const redisBytes = async (): Promise<number> => Number(/^used_memory:(\d+)/m.exec(await redis.info("memory"))?.[1]);
  const parts: Parts = new Map([
    ...(await findInfrastructure()),
    ["operator", [operator.process.pid ?? 0]],
    ["api", [api.process.pid ?? 0]],
    ["agents", [cluster.node.pid]],
  ]);
  const targets = full.map(({ id: poolId }) => ({ url: api.url, apiKey: cluster.apiKey, poolId }));
  bench.say(`${leases} leases in ${pools} pools of ${poolSize}`);
  const samples: Sample[] = [];
  const done = new AbortController();
  const sampling = (async () => {
    while (!done.signal.aborted) {
      samples.push(await sampleOf(parts, redisBytes));
      await sleep(sampleEveryMs, undefined, { signal: done.signal }).catch(() => undefined);
    }
  })();
  try {
    const times = await runInOwnProcess<WeekLoad, WeekTimes>(loadFile, { targets, callersEach, leases }, bench);
    for (const [what, count] of Object.entries(times.errors)) bench.say(`error, ${count} times: ${what}`);
    done.abort();
    await sampling;
    return { rows: rowsOf(times, samples, leases), detail: { tenths: times.acquireMs.map(summarize), samples } };
  } finally {
    done.abort();
    await sampling.catch(() => undefined);
    redis.disconnect();
  }
};

export const section: Section = {
  name: "week",
  summary: "two million leases in a row, with simulated agents: memory and latency from the first to the last",
  run: measure,
};
