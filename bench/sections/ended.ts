/**
 * Very many leases through a Redis of 200 MB, bounded by nothing but its memory: what is kept, refused, and slowed
 * down.
 */
import { join } from "node:path";
import { createLogger } from "../../src/platform/base/log.ts";
import { connectRedis, whenReady } from "../../src/platform/redis/connection.ts";
import type { EndedLoad, EndedResult, Sample } from "../leases/ended-load.ts";
import { startService } from "../leases/service.ts";
import { runInOwnProcess } from "../own-process.ts";
import type { Bench, Row, Section } from "../section.ts";
import { summarize } from "../statistics.ts";

const size = 50;
const maxMemory = "200mb";
const maxMemoryBytes = 200 * 1024 * 1024;
const loadFile = join(import.meta.dirname, "../leases/ended-load.ts");

/**
 * The bounds of the service would keep 20,000 of them. Without bounds they fill Redis, and lists have ten times as
 * many.
 */
const unbounded = Object.fromEntries(
  ["ENDED_LEASES_PER_POOL", "ENDED_BYTES_PER_POOL", "ENDED_LEASES", "ENDED_BYTES"].map((name) => [
    `BROWSERPOOL_${name}`,
    "1000000000",
  ]),
);

/** Twenty lines at most, evenly spread. */
const linesOf = (samples: Sample[]): string[] => {
  const every = Math.max(1, Math.ceil(samples.length / 20));
  return samples
    .filter((_, index) => index % every === 0 || index === samples.length - 1)
    .map(({ seconds, leases, ended, usedBytes, lagP99Ms, lagMaxMs }) => {
      const memory = `${(usedBytes / 1024 / 1024).toFixed(1)} MiB`;
      const lag = `event loop p99 ${lagP99Ms.toFixed(0)} ms, max ${lagMaxMs.toFixed(0)} ms`;
      return `${seconds.toFixed(0).padStart(5)} s  ${String(leases).padStart(8)} leases  ${String(ended).padStart(7)} ended kept  ${memory.padStart(10)}  ${lag}`;
    });
};

const limitMemory = async (redisUrl: string): Promise<void> => {
  const redis = connectRedis(redisUrl, createLogger("silent", "bench"));
  await whenReady(redis, 10_000);
  await redis.config("SET", "maxmemory", maxMemory);
  redis.disconnect();
};

const measure = async (bench: Bench) => {
  const leases = bench.leases(50_000);
  await using service = await startService({ size, env: unbounded }, bench);
  const { cluster, target, poolUid } = service;
  await limitMemory(cluster.redisUrl);
  bench.say(`${leases} leases through a Redis of ${maxMemory}`);
  const load = { target, poolUid, redisUrl: cluster.redisUrl, leases, seed: bench.random()() * 2 ** 32 };
  const result = await runInOwnProcess<EndedLoad, EndedResult>(loadFile, load, bench);
  for (const line of linesOf(result.samples)) bench.say(line);
  for (const [what, count] of Object.entries(result.errors)) bench.say(`error, ${count} times: ${what}`);
  const { samples, byHttp, byScripts, errors, lists } = result;
  const most = (of: (sample: Sample) => number): number => Math.max(...samples.map(of));
  // The first sample has the start of the process in it.
  const lags = samples.slice(1).map(({ lagP99Ms }) => lagP99Ms);
  const rows: Row[] = [
    { what: "leases by HTTP", unit: "count", measured: byHttp },
    { what: "leases by the scripts alone", unit: "count", measured: byScripts },
    {
      what: "errors",
      unit: "count",
      measured: Object.values(errors).reduce((sum, count) => sum + count, 0),
      target: { of: "measured", atMost: 0 },
    },
    {
      what: "most memory of Redis",
      unit: "bytes",
      measured: most(({ usedBytes }) => usedBytes),
      target: { of: "measured", atMost: maxMemoryBytes },
    },
    { what: "most ended leases kept", unit: "count", measured: most(({ ended }) => ended) },
    ...(["p50", "p99"] as const).flatMap((share): Row[] => {
      const floor = { what: `active sessions ${share}`, value: summarize(lists.active)[share] };
      const row = (what: string, list: keyof EndedResult["lists"], atMost: number): Row => ({
        what: `${what} ${share}`,
        unit: "ms",
        measured: summarize(lists[list])[share],
        floor,
        target: { of: "ratio", atMost },
      });
      return [
        row("first page of 100 with all", "first", 5),
        row("any page of 100 ended", "deep", 8),
        row("search that finds nothing", "search", 25),
      ];
    }),
    { what: "event-loop delay of the API p99, worst 5 s", unit: "ms", measured: Math.max(0, ...lags) },
  ];
  const summaries = Object.fromEntries(Object.entries(lists).map(([what, series]) => [what, summarize(series)]));
  return { rows, detail: { samples, errors, lists: summaries } };
};

export const section: Section = {
  name: "ended",
  summary: "many leases, a tenth with tags of 8 KiB, through a Redis of 200 MB; lists meanwhile",
  run: measure,
};
