/** What one caller waits for an idle browser, and for its release, compared with the steps that can't be left out. */
import { join } from "node:path";
import { loadAgentMasterKey, loadSigningKey, type SigningKey } from "../../src/core/bootstrap/installation-keys.ts";
import { type Cluster, startCluster } from "../../test/support/cluster.ts";
import { viewLeases } from "../../test/support/lease-view.ts";
import { fullPool } from "../../test/support/pool-client.ts";
import { unboundedCallers } from "../../test/support/simulated-node/simulated-cluster.ts";
import type { AcquireLoad, AcquireTimes, Timed, Times } from "../leases/acquire-load.ts";
import { type Service, startService } from "../leases/service.ts";
import { runInOwnProcess } from "../own-process.ts";
import type { Bench, Row, Section } from "../section.ts";
import { type Summary, summarize } from "../statistics.ts";

const size = 10;
const realSize = 4;
const loadFile = join(import.meta.dirname, "../leases/acquire-load.ts");
const emptyRoute = join(import.meta.dirname, "../leases/empty-route.ts");

const pemOf = ({ privateKey }: SigningKey): string => privateKey.export({ type: "pkcs8", format: "pem" }) as string;

type Summaries = Record<Timed, Summary>;

/** `how`: a suffix for the row's name. */
const rowsOf = (what: "acquire" | "release", how: string, of: Summaries): Row[] => {
  const evalsha = of.evalsha;
  const parts = of.empty.p50 + evalsha.p50 + of.agent.p50;
  const { p50, p99 } = of[what];
  return [
    {
      what: `${what} p50${how}`,
      unit: "ms",
      measured: p50,
      floor: { what: "EVALSHA p50", value: evalsha.p50 },
      target: { of: "ratio", atMost: 12 },
    },
    {
      what: `${what} p99${how}`,
      unit: "ms",
      measured: p99,
      floor: { what: "EVALSHA p99", value: evalsha.p99 },
      target: { of: "ratio", atMost: 25 },
    },
    {
      what: `${what} p50${how}`,
      unit: "ms",
      measured: p50,
      floor: { what: "empty request + EVALSHA + agent call", value: parts },
      target: { of: "ratio", atMost: 1.4 },
    },
  ];
};

/** The steps of a request, each measured alone; the rest of its time is the service's own. */
const stepRows = (what: "acquire" | "release", steps: Timed[], of: Summaries): Row[] => {
  const step = (name: string, measured: number): Row => ({ what: `  ${what}: ${name}`, unit: "ms", measured });
  const sum = steps.reduce((total, name) => total + of[name].p50, 0);
  return [...steps.map((name) => step(name, of[name].p50)), step("the rest", of[what].p50 - sum)];
};

const summariesOf = (times: Times): Summaries =>
  Object.fromEntries(Object.entries(times).map(([name, series]) => [name, summarize(series)])) as Summaries;

/** The times of every call, of one caller of this pool. */
const timesAt = async (
  { cluster, target, poolUid }: Pick<Service, "target" | "poolUid"> & { cluster: Cluster },
  bench: Bench,
): Promise<{ mixed: Summaries; inRows: Summaries }> => {
  const signingKey = pemOf(await loadSigningKey({ kube: cluster.kube, namespace: "browserpool-system" }));
  const master = await loadAgentMasterKey({ kube: cluster.kube, namespace: "browserpool-system" });
  const masterKey = master.export().toString("base64");
  const seconds = bench.seconds(15);
  bench.say(`acquiring for ${seconds} s, every call in turn, then for ${seconds} s in rows`);
  const { mixed, inRows } = await runInOwnProcess<AcquireLoad, AcquireTimes>(
    loadFile,
    { target, poolUid, redisUrl: cluster.redisUrl, signingKey, masterKey, seconds, seed: bench.random()() * 2 ** 32 },
    bench,
  );
  return { mixed: summariesOf(mixed), inRows: summariesOf(inRows) };
};

/** With the agents and browsers of a cluster, four of them. */
const measureReal = async (bench: Bench): Promise<Summaries> => {
  bench.say("starting a cluster with real browsers");
  await using cluster = await startCluster({ env: unboundedCallers });
  await cluster.startOperator("operator").logged("leading");
  const api = await cluster.startApi("api", ["--import", emptyRoute]);
  const { id: poolId } = await fullPool(api.call, realSize);
  const leases = await viewLeases(cluster.redisUrl, cluster.kube, cluster.namespace);
  const poolUid = await leases.uidOf(poolId).finally(() => leases.close());
  const target = { url: api.url, apiKey: cluster.apiKey, poolId };
  return (await timesAt({ cluster, target, poolUid }, bench)).mixed;
};

const realRows = ({ acquire, evalsha }: Summaries): Row[] =>
  (
    [
      ["p50", 10],
      ["p99", 20],
    ] as const
  ).map(
    ([share, atMost]): Row => ({
      what: `acquire ${share}, ${realSize} real browsers`,
      unit: "ms",
      measured: acquire[share],
      floor: { what: `EVALSHA ${share}`, value: evalsha[share] },
      target: { of: "ratio", atMost },
    }),
  );

const measureSimulated = async (bench: Bench) => {
  await using service = await startService({ size, apiArgs: ["--import", emptyRoute] }, bench);
  // Awaited here: the service ends with this function.
  return await timesAt(service, bench);
};

const measure = async (bench: Bench) => {
  const { mixed, inRows } = await measureSimulated(bench);
  const real = await measureReal(bench);
  return {
    rows: [
      ...rowsOf("acquire", "", mixed),
      ...stepRows("acquire", ["empty", "take", "bind", "sign"], mixed),
      ...rowsOf("release", "", mixed),
      ...stepRows("release", ["empty", "releaseScript", "end", "offer"], mixed),
      ...rowsOf("acquire", ", in rows", inRows),
      ...rowsOf("release", ", in rows", inRows),
      ...realRows(real),
    ],
    detail: { mixed, inRows, real },
  };
};

export const section: Section = {
  name: "acquire",
  summary: "one caller acquires and releases, against a bare EVALSHA and against the sum of its parts",
  run: measure,
};
