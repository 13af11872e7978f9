/** Probes and metrics on their own port: of an api and of two operators, one of which leads. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ApiReplica, Replica } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { fullPool } from "../support/pool-client.ts";
import { rawRequest } from "../support/raw-http.ts";
import { type SimulatedCluster, startSimulatedCluster } from "../support/simulated-node/simulated-cluster.ts";

let cluster: SimulatedCluster;
let api: ApiReplica;
let ops: { api: string; leader: string; standby: string };

const opsUrl = async (replica: Replica): Promise<string> =>
  (await replica.logged("ops port is open")).listen ?? "no address was logged";

beforeAll(async () => {
  cluster = await startSimulatedCluster({
    env: { BROWSERPOOL_OPS_PORT: "0", BROWSERPOOL_ALLOWED_HOSTS: "10.1.2.3" },
  });
  const leader = cluster.startOperator("operator-a");
  await leader.logged("leading");
  const standby = cluster.startOperator("operator-b");
  api = await cluster.startApi("api");
  ops = { api: await opsUrl(api), leader: await opsUrl(leader), standby: await opsUrl(standby) };
});
afterAll(() => cluster?.[Symbol.asyncDispose]());

const get = async (url: string): Promise<{ status: number; body: string }> => {
  const response = await fetch(url);
  return { status: response.status, body: await response.text() };
};

const statusOf = async (url: string): Promise<number> => (await get(url)).status;

/** The value of one sample; undefined when there is none. */
const sample = async (base: string, name: string): Promise<number | undefined> => {
  const lines = (await get(`${base}/metrics`)).body.split("\n");
  const line = lines.find((text) => text.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length));
};

describe("with a port for operations", () => {
  test("the api's own port has no metrics, documentation, page of the config registry or readiness, and still has its liveness and its OpenAPI document", async () => {
    for (const path of ["/metrics", "/docs", "/registry", "/readyz"]) expect(await statusOf(api.url + path)).toBe(404);
    for (const path of ["/livez", "/openapi.json"]) expect(await statusOf(api.url + path)).toBe(200);
    const paths = ["/livez", "/readyz", "/metrics", "/docs", "/registry", "/openapi.json"];
    for (const path of paths) expect(await statusOf(ops.api + path)).toBe(200);
    expect(await statusOf(`${ops.api}/browser_pools`)).toBe(404);
  });

  test("every operator is ready, and one leads", async () => {
    const ready = { status: "ok", redis: true, kubernetes: true, running: true };
    for (const url of [ops.leader, ops.standby]) {
      await eventually("it is ready", async () => (await statusOf(`${url}/readyz`)) === 200);
      expect(JSON.parse((await get(`${url}/readyz`)).body)).toEqual(ready);
    }
    expect(await sample(ops.leader, "browserpool_operator_leading")).toBe(1);
    expect(await sample(ops.standby, "browserpool_operator_leading")).toBe(0);
    expect(await statusOf(`${ops.leader}/docs`)).toBe(404);
  });

  test("the operator counts its rounds, its calls and its starts; the api counts its calls", async () => {
    await fullPool(api.call, 2);
    const rounds = 'browserpool_reconcile_duration_seconds_count{controller="browser-pool",result="ok"}';
    expect(await sample(ops.leader, rounds)).toBeGreaterThan(1);
    expect(await sample(ops.standby, rounds)).toBeUndefined();
    expect(await sample(ops.leader, 'browserpool_reconcile_queue_length{controller="browser-pool"}')).toBe(0);
    const calls = (method: string, resource: string, status: number) =>
      `browserpool_kube_requests_total{method="${method}",resource="${resource}",status="${status}"}`;
    expect(await sample(ops.leader, calls("POST", "pods", 201))).toBe(2);
    // Of pools, of on-demand browsers, and of those whose profile is saved.
    expect(await sample(ops.leader, calls("WATCH", "pods", 200))).toBe(3);
    expect(await sample(ops.leader, calls("PUT", "browserpools/status", 200))).toBeGreaterThan(0);
    expect(await sample(ops.api, calls("POST", "browserpools", 201))).toBe(1);
    await eventually("both starts are counted", async () => {
      const ready = await sample(ops.leader, 'browserpool_browser_starts_total{result="ready"}');
      return ready === 2;
    });
    expect(await sample(ops.leader, 'browserpool_browser_starts_total{result="failed"}')).toBe(0);
  });

  test("the api tells of each pool by its project and its name how many browsers it has in which state", async () => {
    const pool = await fullPool(api.call, 2, { name: "orders" });
    await pool.acquire();
    const [project] = (await (await api.call("GET", "/org/projects")).json()) as { id: string }[];
    const labels = `project="${project?.id}",pool="orders"`;
    const browsers = (state: string) => sample(ops.api, `browserpool_pool_browsers{${labels},state="${state}"}`);
    await eventually("it is counted", async () => (await browsers("acquired")) === 1);
    expect([await browsers("wanted"), await browsers("available"), await browsers("starting")]).toEqual([2, 1, 0]);
    expect(await sample(ops.api, `browserpool_pool_waiting_callers{${labels}}`)).toBe(0);
  });

  test("both report whether their dependencies are up", async () => {
    for (const url of [ops.api, ops.standby])
      for (const part of ["redis", "kubernetes"])
        expect(await sample(url, `browserpool_dependency_up{part="${part}"}`)).toBe(1);
  });

  test("only served hosts get an answer", async () => {
    for (const url of [ops.api, ops.leader]) {
      const statuses = ["10.1.2.3:9090", "rebound.example.com"].map(
        async (host) => (await rawRequest(url, { path: "/readyz", headers: { host } })).status,
      );
      expect(await Promise.all(statuses)).toEqual([200, 403]);
    }
  });

  test("load balancers that ask for `/` under the pod's address get an answer without data, and readiness at the ops port", async () => {
    const headers = { host: "10.1.2.3:8080" };
    const { status, text } = await rawRequest(api.url, { headers });
    expect([status, Object.keys(JSON.parse(text) as object)]).toEqual([200, ["name", "version", "links"]]);
    expect((await rawRequest(api.url, { headers: { host: "rebound.example.com" } })).status).toBe(403);
    expect((await rawRequest(ops.api, { path: "/readyz", headers })).status).toBe(200);
  });
});
