/** What two replicas of the api and two of the operator tell of the same sessions and browsers. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { registeredMetrics } from "../../scripts/gen-metrics.ts";
import { pods } from "../../src/platform/kube/resource-type.ts";
import type { ApiReplica, Replica } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { fullPool } from "../support/pool-client.ts";
import { type SimulatedCluster, startSimulatedCluster } from "../support/simulated-node/simulated-cluster.ts";

let cluster: SimulatedCluster;
let apis: ApiReplica[];
let urls: { apis: string[]; leader: string; standby: string };
let project: string;

const opsUrl = async (replica: Replica): Promise<string> =>
  (await replica.logged("ops port is open")).listen ?? "no address was logged";

beforeAll(async () => {
  cluster = await startSimulatedCluster({
    env: { BROWSERPOOL_OPS_PORT: "0", BROWSERPOOL_OBJECTS_PER_PROJECT: "browserpools=10,vaults=5" },
  });
  const leader = cluster.startOperator("operator-a");
  await leader.logged("leading");
  const standby = cluster.startOperator("operator-b");
  apis = [await cluster.startApi("api-a"), await cluster.startApi("api-b")];
  urls = { apis: await Promise.all(apis.map(opsUrl)), leader: await opsUrl(leader), standby: await opsUrl(standby) };
  const [first] = (await (await a().call("GET", "/org/projects")).json()) as { id: string }[];
  project = first?.id ?? "";
});
afterAll(() => cluster?.[Symbol.asyncDispose]());

const linesOf = async (url: string): Promise<string[]> => (await (await fetch(`${url}/metrics`)).text()).split("\n");

/** The sum of all samples that begin with this, over all processes. */
const sum = async (start: string): Promise<number> => {
  const lines = (await Promise.all([...urls.apis, urls.leader, urls.standby].map(linesOf))).flat();
  return lines
    .filter((line) => line.startsWith(start))
    .reduce((total, line) => total + Number(line.slice(line.lastIndexOf(" "))), 0);
};

const ended = (pool: string, reason = "") =>
  `browserpool_sessions_ended_total{project="${project}",pool="${pool}",reason="${reason}`;

const [a, b] = [() => apis[0] as ApiReplica, () => apis[1] as ApiReplica];

test("a session that several replicas end at the same time is counted once", async () => {
  const pool = await fullPool(a().call, 6, { name: "raced" });
  const sessions = await Promise.all(Array.from({ length: 6 }, () => pool.acquire()));
  const answers = await Promise.all(
    sessions.flatMap(({ session_id }) =>
      [a(), b(), a(), b()].map((api) => api.call("POST", `/browser_pools/${pool.id}/release`, { session_id })),
    ),
  );
  expect(answers.filter(({ status }) => status === 204).length).toBeGreaterThanOrEqual(6);
  expect(await sum(ended("raced", "released"))).toBe(6);
  expect(await sum(ended("raced"))).toBe(6);
});

test("a session whose browser is gone is counted by the operator, and with its seconds by project", async () => {
  const pool = await fullPool(a().call, 1, { name: "lost" });
  const seconds = () => sum(`browserpool_session_seconds_total{project="${project}"}`);
  const before = await seconds();
  await pool.acquire();
  const [pod] = (await cluster.kube.list(pods, { namespace: cluster.namespace })).items.filter(
    ({ metadata }) => metadata.ownerReferences?.[0]?.name === pool.id,
  );
  if (!pod) throw new Error("the pool has no pod");
  await cluster.kube.delete(pods, pod.metadata, { gracePeriodSeconds: 0 });
  await eventually("the session has ended", async () => (await sum(ended("lost"))) === 1);
  expect(await seconds()).toBeGreaterThan(before);
});

test("acquires of a pool are told of by what came of them, apart from those of others", async () => {
  const pool = await fullPool(a().call, 1, { name: "small" });
  const acquires = (result: string) =>
    sum(`browserpool_pool_acquires_total{project="${project}",pool="small",result="${result}"}`);
  const session = await pool.acquire();
  await pool.whenCounts({ acquired: 1, available: 0 });
  expect((await pool.ask(1)).status).toBe(204);
  expect([await acquires("granted"), await acquires("timeout"), await acquires("short")]).toEqual([1, 1, 0]);
  expect(await sum(`browserpool_pool_acquire_wait_seconds_count{project="${project}",pool="small"}`)).toBe(1);
  // It takes minutes to fill: until then it is short, whoever waits for it.
  await a().call("PATCH", `/browser_pools/${pool.id}`, { size: 3, fill_rate_per_minute: 0 });
  await eventually("its callers find it short", async () => {
    await pool.ask(1);
    return (await acquires("short")) > 0;
  });
  await pool.release(session);
});

test("the leader tells what is used beside the limits, and the time and the stages of browsers", async () => {
  await fullPool(a().call, 2, { name: "limits" });
  const leader = async (name: string): Promise<number | undefined> => {
    const line = (await linesOf(urls.leader)).find((text) => text.startsWith(`${name} `));
    return line === undefined ? undefined : Number(line.slice(name.length));
  };
  expect(await leader('browserpool_limit{limit="pooled_sessions"}')).toBe(100_000);
  expect(await leader('browserpool_limit_used{limit="pooled_sessions"}')).toBeGreaterThanOrEqual(2);
  expect(await leader('browserpool_limit_used{limit="on_demand_sessions"}')).toBe(0);
  expect(await leader('browserpool_project_objects_limit{kind="browserpools"}')).toBe(10);
  expect(await leader('browserpool_project_objects_used{kind="browserpools"}')).toBeGreaterThanOrEqual(1);
  expect(await leader('browserpool_project_objects_used{kind="vaults"}')).toBe(0);
  await a().call("POST", "/vaults", { name: "one" });
  await eventually(
    "the vault is counted",
    async () => (await leader('browserpool_project_objects_used{kind="vaults"}')) === 1,
  );
  expect(await leader(`browserpool_browser_seconds_total{project="${project}"}`)).toBeGreaterThan(0);
  for (const stage of ["scheduled", "running", "ready"])
    expect(await leader(`browserpool_browser_start_seconds_count{stage="${stage}"}`)).toBeGreaterThan(0);
  expect((await linesOf(urls.standby)).filter((line) => line.startsWith("browserpool_limit"))).toEqual([]);
});

test("each process tells of the metrics that docs/metrics.md lists for it, and of its calls to Redis by script", async () => {
  const registered = await registeredMetrics();
  for (const [url, of] of [
    [urls.apis[0], registered.api],
    [urls.leader, registered.operator],
  ] as const) {
    const lines = await linesOf(url ?? "");
    const told = lines.flatMap((line) => /^# TYPE (browserpool_\w+ \w+)$/.exec(line)?.[1] ?? []);
    expect(told.sort()).toEqual(of.map(({ name, type }) => `${name} ${type}`).sort());
    expect(lines.some((line) => line.startsWith("browserpool_build_info{version="))).toBe(true);
  }
  expect(await sum('browserpool_redis_command_duration_seconds_count{operation="take",result="ok"}')).toBeGreaterThan(
    0,
  );
});
