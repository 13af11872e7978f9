/** Lookups of the config registry with very many targets: their time, and what the knowledge costs. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { targetOf } from "../../src/features/sites/rules/target.ts";
import { importSites, originOf } from "../../src/features/sites/transfer.ts";
import { hostileUrls } from "../../test/features/sites/support/hostile-urls.ts";
import { startSimulatedCluster } from "../../test/support/simulated-node/simulated-cluster.ts";
import { runInOwnProcess } from "../own-process.ts";
import type { Bench, Row, Section } from "../section.ts";
import type { LookupLoad, LookupTimes } from "../sites/lookup-load.ts";
import { siteLine } from "../sites/make-sites.ts";
import { type Summary, summarize } from "../statistics.ts";

const sites = 100_000;
const perSecond = 1000;
const loadFile = join(import.meta.dirname, "../sites/lookup-load.ts");
const emptyRoute = join(import.meta.dirname, "../leases/empty-route.ts");

const residentBytes = (pid: number): number =>
  1024 * Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);

/** The API server that runs for a data directory. */
const apiServerIn = (dataDir: string): number => {
  for (const entry of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const line = readFileSync(`/proc/${entry}/cmdline`, "utf8");
      if (line.includes("kube-apiserver") && line.includes(dataDir)) return Number(entry);
    } catch {
      // It has ended meanwhile.
    }
  }
  throw new Error(`no kube-apiserver runs for ${dataDir}`);
};

const lines = async function* (): AsyncIterable<string> {
  for (let n = 0; n < sites; n++) yield siteLine(n);
};

/**
 * How long the URL that takes longest keeps the event loop, ms: of each the shortest of some tries, which others
 * disturb least.
 */
const longestHostileMs = (): number =>
  Math.max(
    ...hostileUrls.map((url) =>
      Math.min(
        ...Array.from({ length: 5 }, () => {
          const beganMs = performance.now();
          targetOf(url);
          return performance.now() - beganMs;
        }),
      ),
    ),
  );

const measure = async (bench: Bench) => {
  bench.say("starting a cluster");
  await using cluster = await startSimulatedCluster();
  const apiServer = apiServerIn(cluster.dataDir);
  const empty = await cluster.startApi("empty", ["--import", emptyRoute]);
  const seconds = bench.seconds(20);
  const load = (url: string, known: number): Promise<LookupTimes> =>
    runInOwnProcess<LookupLoad, LookupTimes>(
      loadFile,
      { url, apiKey: cluster.apiKey, sites: known, seconds, perSecond, seed: bench.random()() * 2 ** 32 },
      bench,
    );
  bench.say("the same load on a replica that knows nothing");
  await load(empty.url, 0);
  const before = { api: residentBytes(empty.process.pid ?? 0), apiServer: residentBytes(apiServer) };
  empty.kill("SIGTERM");
  await empty.exited;

  bench.say(`importing ${sites} targets`);
  const importBeganMs = performance.now();
  await importSites(
    lines(),
    { kube: cluster.kube, origin: await originOf(cluster.kube, "browserpool-system") },
    bench.signal,
  );
  const importMs = performance.now() - importBeganMs;

  const startBeganMs = performance.now();
  const api = await cluster.startApi("api", ["--import", emptyRoute]);
  const startMs = performance.now() - startBeganMs;
  bench.say(
    `lookups and an empty route in turns for ${seconds} s, then ${perSecond} lookups a second for ${seconds} s`,
  );
  const { turns, open } = await load(api.url, sites);
  const [known, unknown, none, crowd, late] = [
    turns.known,
    turns.unknown,
    turns.empty,
    open.latencies,
    open.lateness,
  ].map(summarize) as [Summary, Summary, Summary, Summary, Summary];
  const after = { api: residentBytes(api.process.pid ?? 0), apiServer: residentBytes(apiServer) };
  const floor = { what: "empty authenticated POST p50", value: none.p50 };
  const rows: Row[] = [
    { what: "lookup p50", unit: "ms", measured: known.p50, floor, target: { of: "ratio", atMost: 1.3 } },
    {
      what: "lookup p99",
      unit: "ms",
      measured: known.p99,
      floor: { ...floor, what: "the same, p99", value: none.p99 },
    },
    { what: "lookup of what is not known p50", unit: "ms", measured: unknown.p50, floor },
    { what: `lookup p50 at ${perSecond}/s`, unit: "ms", measured: crowd.p50 },
    {
      what: `lookup p99 at ${perSecond}/s`,
      unit: "ms",
      measured: crowd.p99,
      target: { of: "measured", atMost: 5 },
    },
    { what: "the generator's own delay p99", unit: "ms", measured: late.p99 },
    { what: "errors", unit: "count", measured: open.errors, target: { of: "measured", atMost: 0 } },
    {
      what: `longest of ${hostileUrls.length} hostile URLs`,
      unit: "ms",
      measured: longestHostileMs(),
      target: { of: "measured", atMost: 5 },
    },
    { what: `import of ${sites} targets`, unit: "ms", measured: importMs },
    { what: "start of a replica with them", unit: "ms", measured: startMs },
    {
      what: "resident memory of a replica after the load",
      unit: "bytes",
      measured: after.api,
      floor: { what: "one without them, after the same load", value: before.api },
    },
    {
      what: "resident memory of the API server",
      unit: "bytes",
      measured: after.apiServer,
      floor: { what: "without them", value: before.apiServer },
    },
  ];
  return { rows, detail: { known, unknown, none, crowd, late } };
};

export const section: Section = {
  name: "sites",
  summary: `lookups with ${sites} targets, against an empty route of the same server`,
  run: measure,
};
