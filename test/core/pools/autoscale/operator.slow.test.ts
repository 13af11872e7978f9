/** The operator's part in autoscaled pools, on simulated browsers: limits, other replicas, Events and metrics. */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type BrowserPool, browserPoolKind } from "../../../../src/core/model/pools/browser-pool.ts";
import { projectCapAnnotation } from "../../../../src/core/model/sessions/session-room.ts";
import { events, namespaces, pods } from "../../../../src/platform/kube/resource-type.ts";
import type { ApiReplica, Replica } from "../../../support/cluster.ts";
import { eventually } from "../../../support/eventually.ts";
import { type PoolClient, poolAt, type Session } from "../../../support/pool-client.ts";
import { type SimulatedCluster, startSimulatedCluster } from "../../../support/simulated-node/simulated-cluster.ts";

let cluster: SimulatedCluster;
let api: ApiReplica;
let operator: Replica;
beforeAll(async () => {
  cluster = await startSimulatedCluster({ env: { BROWSERPOOL_POOLED_SESSIONS: "12" } });
  api = await cluster.startApi("api");
  operator = cluster.startOperator("operator");
  await operator.logged("leading");
});
afterAll(() => cluster?.[Symbol.asyncDispose]());
const made: string[] = [];
afterEach(async () => {
  for (const id of made.splice(0)) await api.call("DELETE", `/browser_pools/${id}`, { force: true });
  await eventually("no pool is left", async () => (await cluster.kube.list(browserPoolKind)).items.length === 0);
});

const create = async (fields: object): Promise<PoolClient> => {
  const answer = await api.call("POST", "/browser_pools", { headless: true, fill_rate_per_minute: 6000, ...fields });
  const { id } = (await answer.json()) as { id: string };
  expect(answer.status).toBe(200);
  made.push(id);
  return poolAt(api.call, id);
};
const read = async ({ id }: Pick<PoolClient, "id">): Promise<BrowserPool> =>
  (await cluster.kube.get(browserPoolKind, { namespace: cluster.namespace, name: id })) as BrowserPool;
const scaling = ({ status }: BrowserPool) => status?.conditions.find(({ type }) => type === "ScalingLimited");
const untilScaled = (pool: PoolClient, size: number, reason?: string): Promise<BrowserPool> => {
  let last: BrowserPool | undefined;
  const what = () => `${pool.id} has size ${size} by ${reason}: ${JSON.stringify(last?.status)}`;
  return eventually(what, async () => {
    last = await read(pool);
    return last.status?.acceptedSize === size && (reason === undefined || scaling(last)?.reason === reason) && last;
  });
};
const acquire = (pool: PoolClient, count: number): Promise<Session[]> =>
  Promise.all(Array.from({ length: count }, () => pool.acquire()));
const release = async (pool: PoolClient, sessions: Session[]): Promise<void> => {
  await Promise.all(sessions.map((session) => pool.release(session)));
};

// POOL-28
test("no pool grows above the organization's limit, and one that shrinks leaves its room to others", async () => {
  const autoscale = { min: 0, max: 50, buffer: 0, scale_down_after_seconds: 1 };
  const [first, second] = [await create({ autoscale }), await create({ autoscale })];
  const held = await acquire(first, 9);
  await untilScaled(first, 9, "Demand");
  const few = await acquire(second, 3);
  const waiting = Array.from({ length: 2 }, () => second.acquire());
  expect(scaling(await untilScaled(second, 3, "PooledSessionsLimit"))).toMatchObject({ status: "True" });
  await release(first, held);
  await untilScaled(first, 0);
  await untilScaled(second, 5, "Demand");
  await release(second, [...few, ...(await Promise.all(waiting))]);
});

// POOL-28, LIMIT-10
test("a cap of the project that is lowered below min takes no browser away and lets none be added", async () => {
  const setCap = (cap: string | null) =>
    cluster.kube.patch(
      namespaces,
      { name: cluster.namespace },
      { metadata: { annotations: { [projectCapAnnotation]: cap } } },
    );
  const pool = await create({ autoscale: { min: 3, max: 6, buffer: 0, scale_down_after_seconds: 1 } });
  await pool.whenCounts({ acquired: 0, available: 3 });
  try {
    await setCap("2");
    const held = await acquire(pool, 3);
    const waiting = pool.acquire();
    expect(scaling(await untilScaled(pool, 3, "SessionsLimit"))).toMatchObject({ status: "True" });
    await setCap(null);
    await untilScaled(pool, 4);
    await release(pool, [...held, await waiting]);
    await untilScaled(pool, 3, "AtMin");
  } finally {
    await setCap(null);
  }
});

// POOL-26
test("a new leader keeps the size for a whole quiet time", async () => {
  const pool = await create({ autoscale: { min: 0, max: 6, buffer: 0, scale_down_after_seconds: 3600 } });
  const held = await acquire(pool, 4);
  await untilScaled(pool, 4, "Demand");
  operator.kill("SIGKILL");
  await operator.exited;
  await release(pool, held);
  operator = cluster.startOperator("operator-next");
  await operator.logged("leading");
  await untilScaled(pool, 4, "ScaleDownStabilized");
  await pool.whenCounts({ acquired: 0, available: 4 });
});

// POOL-28, POOL-30
test("many callers at once bring the pool to max and no further, and one Event tells of it", async () => {
  const pool = await create({ autoscale: { min: 0, max: 4, buffer: 0, scale_down_after_seconds: 1 } });
  await untilScaled(pool, 0);
  const flood = Array.from({ length: 40 }, () => pool.ask(3));
  await untilScaled(pool, 4, "AtMax");
  const answers = await Promise.all(flood);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(4);
  const { items } = await cluster.kube.list(pods, { namespace: cluster.namespace });
  expect(items.filter(({ metadata }) => metadata.name.startsWith(pool.id))).toHaveLength(4);
  const told = (await cluster.kube.list(events, { namespace: cluster.namespace })).items.filter(
    ({ regarding, reason }) => regarding?.name === pool.id && reason === "Rescaled",
  );
  expect(told).toHaveLength(1);
  expect(told[0]?.note).toMatch(/^the size goes from 0 to [1-4]: /);
});

// POOL-27
test("a window that is open gives the pool its bounds", async () => {
  // Of every day the whole: open whenever this runs.
  const window = { start: "00:00", end: "00:00", time_zone: "Asia/Tokyo", min: 2, max: 3 };
  const pool = await create({ autoscale: { min: 0, max: 1, buffer: 0, schedule: [window] } });
  await untilScaled(pool, 2, "AtMin");
  const held = await acquire(pool, 3);
  await untilScaled(pool, 3, "Demand");
  await release(pool, held);
});

// POOL-23
test("the metrics of pools tell the wanted size of an autoscaled one", async () => {
  const pool = await create({ name: "scaled", autoscale: { min: 2, max: 4 } });
  await pool.whenCounts({ acquired: 0, available: 2 });
  await eventually("the metric says 2", async () => {
    const text = await (await fetch(new URL("/metrics", api.url))).text();
    return /browserpool_pool_browsers\{project="[^"]+",pool="scaled",state="wanted"\} 2/.test(text);
  });
});
