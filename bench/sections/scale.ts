/** Two thousand browsers in twenty pools: what the operator uses for them, and what callers notice. */
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../../src/local/free-port.ts";
import type { ApiReplica, Replica } from "../../test/support/cluster.ts";
import { type LeaseView, viewLeases } from "../../test/support/lease-view.ts";
import { type SimulatedCluster, startSimulatedCluster } from "../../test/support/simulated-node/simulated-cluster.ts";
import { createLoadClient } from "../leases/client.ts";
import { type Usage, usageOf } from "../scale/operator-usage.ts";
import type { Bench, Row, Section } from "../section.ts";
import { summarize } from "../statistics.ts";

const pools = 20;
const poolSize = 100;
const smallPool = 10;
/** Browsers of each thousand that end while no operator runs. */
const lostPerMille = 50;
/** Timeout of the run, ms. */
const giveUpMs = 300_000;

type Stage = { cluster: SimulatedCluster; api: ApiReplica; leases: LeaseView; bench: Bench };
type Operator = { replica: Replica; usage(): Promise<Usage> };

const startOperator = async ({ cluster }: Stage, name: string): Promise<Operator> => {
  const port = await freePort("127.0.0.1");
  if (port === undefined) throw new Error("no port is free");
  const replica = cluster.startOperator(name, { BROWSERPOOL_OPS_PORT: String(port) });
  await replica.logged("leading");
  return { replica, usage: () => usageOf(replica.process.pid ?? 0, `http://127.0.0.1:${port}`) };
};

const createPool = async ({ api }: Stage, size: number): Promise<string> => {
  const answer = await api.call("POST", "/browser_pools", { size, headless: true, fill_rate_per_minute: 6000 });
  if (answer.status !== 200) throw new Error(`no pool: ${answer.status} ${await answer.text()}`);
  return ((await answer.json()) as { id: string }).id;
};

/** Resolves when all browsers of every pool are idle, with the time that it took, ms. */
const whenFull = async (ids: string[], size: number, { leases, bench }: Stage): Promise<number> => {
  const beganMs = performance.now();
  const signal = AbortSignal.any([bench.signal, AbortSignal.timeout(giveUpMs)]);
  const uids = await Promise.all(ids.map((id) => leases.uidOf(id)));
  for (;;) {
    const counts = await Promise.all(uids.map((uid) => leases.store.counts(uid)));
    if (counts.every(({ available }) => available === size)) return performance.now() - beganMs;
    await sleep(50, undefined, { signal });
  }
};

/** p50 of one caller's acquires, ms. */
const acquireP50 = async (poolId: string, { api, cluster, bench }: Stage): Promise<number> => {
  const client = createLoadClient({ url: api.url, apiKey: cluster.apiKey, poolId }, 1);
  const times: number[] = [];
  try {
    const endMs = performance.now() + bench.seconds(10) * 1000;
    while (performance.now() < endMs) {
      const beganMs = performance.now();
      const session = await client.acquire();
      times.push(performance.now() - beganMs);
      await client.release(session);
    }
    return summarize(times).p50;
  } finally {
    await client.close();
  }
};

const since = (before: Usage, after: Usage): Usage => ({
  cpuSeconds: after.cpuSeconds - before.cpuSeconds,
  residentBytes: after.residentBytes,
  kubeRequests: after.kubeRequests - before.kubeRequests,
});

const row = (what: string, unit: Row["unit"], measured: number, more: Partial<Row> = {}): Row => ({
  what,
  unit,
  measured,
  ...more,
});

const measureFilling = async (stage: Stage, operator: Operator): Promise<{ ids: string[]; rows: Row[] }> => {
  const before = await operator.usage();
  const ids: string[] = [];
  for (let index = 0; index < pools; index++) ids.push(await createPool(stage, poolSize));
  const filledMs = await whenFull(ids, poolSize, stage);
  const used = since(before, await operator.usage());
  const browsers = pools * poolSize;
  return {
    ids,
    rows: [
      row(`${browsers} browsers in ${pools} pools are there`, "ms", filledMs),
      row("requests to the API server per browser started", "count", used.kubeRequests / browsers, {
        target: { of: "measured", atMost: 6 },
      }),
      row("operator's CPU per browser started", "ms", (used.cpuSeconds * 1000) / browsers),
      row("operator's memory, resident", "bytes", used.residentBytes),
    ],
  };
};

const measureRest = async ({ bench }: Stage, operator: Operator): Promise<Row[]> => {
  const seconds = bench.seconds(20);
  await sleep(5000, undefined, { signal: bench.signal });
  const before = await operator.usage();
  await sleep(seconds * 1000, undefined, { signal: bench.signal });
  const used = since(before, await operator.usage());
  return [
    row("operator's CPU at rest, per second", "ms", (used.cpuSeconds * 1000) / seconds),
    row("requests to the API server at rest", "1/s", used.kubeRequests / seconds),
  ];
};

/** Resolves when these browsers have left the pools and every pool is full, with the time that it took, ms. */
const whenReplaced = async (lost: string[], ids: string[], stage: Stage): Promise<number> => {
  const beganMs = performance.now();
  const gone = new Set(lost);
  const signal = AbortSignal.any([stage.bench.signal, AbortSignal.timeout(giveUpMs)]);
  for (;;) {
    const idle = await Promise.all(ids.map((id) => stage.leases.podsIn(id, "idle")));
    if (idle.every((uids) => uids.length === poolSize && !uids.some((uid) => gone.has(uid))))
      return performance.now() - beganMs;
    await sleep(100, undefined, { signal });
  }
};

/** The operator is killed, browsers end while none runs, and another operator starts. */
const measureRestart = async (stage: Stage, operator: Operator, ids: string[]): Promise<Row[]> => {
  operator.replica.kill("SIGKILL");
  await operator.replica.exited;
  const lost = await stage.cluster.node.happen({ share: lostPerMille / 1000, seed: 1 }, "crash");
  const next = await startOperator(stage, "operator-next");
  const convergedMs = await whenReplaced(lost, ids, stage);
  const used = await next.usage();
  return [
    row(`a new leader has replaced ${lost.length} lost browsers`, "ms", convergedMs),
    row("its CPU for that", "ms", used.cpuSeconds * 1000),
    row("its requests to the API server", "count", used.kubeRequests),
  ];
};

const measure = async (bench: Bench) => {
  bench.say("starting a cluster");
  await using cluster = await startSimulatedCluster();
  const api = await cluster.startApi("api");
  const leases = await viewLeases(cluster.redisUrl, cluster.kube, cluster.namespace);
  const stage: Stage = { cluster, api, leases, bench };
  try {
    const operator = await startOperator(stage, "operator");
    const small = await createPool(stage, smallPool);
    await whenFull([small], smallPool, stage);
    const alone = await acquireP50(small, stage);
    bench.say(`filling ${pools} pools of ${poolSize}`);
    const { ids, rows } = await measureFilling(stage, operator);
    bench.say("measuring at rest, and under one caller");
    const atRest = await measureRest(stage, operator);
    const among = await acquireP50(small, stage);
    const large = await acquireP50(ids[0] ?? "", stage);
    bench.say("killing the operator, ending browsers, starting another operator");
    const restart = await measureRestart(stage, operator, ids);
    const floor = { what: `a pool of ${smallPool} alone`, value: alone };
    const target = { of: "ratio", atMost: 1.25 } as const;
    return {
      rows: [
        ...rows,
        ...atRest,
        row(`acquire p50, pool of ${smallPool} among all`, "ms", among, { floor, target }),
        row(`acquire p50, pool of ${poolSize} among all`, "ms", large, { floor, target }),
        ...restart,
      ],
    };
  } finally {
    leases.close();
  }
};

export const section: Section = {
  name: "scale",
  summary: `${pools * poolSize} browsers in ${pools} pools, played by one process`,
  run: measure,
};
