/**
 * Steps that stay half-done because the API or the operator died, and lost data without an operator: all of it is
 * repaired.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLogger } from "../../src/platform/base/log.ts";
import { leases as leaseObjects, pods } from "../../src/platform/kube/resource-type.ts";
import { connectRedis, whenReady } from "../../src/platform/redis/connection.ts";
import { type ApiReplica, type Cluster, type Replica, startCluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { type LeaseView, viewLeases } from "../support/lease-view.ts";
import { fullPool, openCdp, type PoolClient, poolAt } from "../support/pool-client.ts";
import { freeze, processesOf } from "../support/processes.ts";

let cluster: Cluster;
let leases: LeaseView;
let operator: Replica;
const operators: Replica[] = [];
let api: ApiReplica;
let pool: PoolClient;

beforeAll(async () => {
  cluster = await startCluster();
  leases = await viewLeases(cluster.redisUrl, cluster.kube, cluster.namespace);
  operator = startOperator("operator-a");
  api = await cluster.startApi("api-a");
  pool = await fullPool(api.call, 1);
});
afterAll(async () => {
  leases?.close();
  await cluster?.[Symbol.asyncDispose]();
});

const startOperator = (hostname: string): Replica => {
  const replica = cluster.startOperator(hostname);
  operators.push(replica);
  return replica;
};
const flushRedis = async (url: string): Promise<void> => {
  const redis = connectRedis(url, createLogger("silent", "test"));
  await whenReady(redis, 10_000);
  await redis.flushall();
  redis.disconnect();
};
const stateOf = async () => (await leases.store.snapshot(await leases.uidOf(pool.id))).browsers[0]?.state;
const whenState = (state: string) => eventually(`the browser is ${state}`, async () => (await stateOf()) === state);

/** Freezes the pod's agent; `go` lets it continue. */
const freezeAgent = async (): Promise<{ go(): void }> => {
  const { items } = await cluster.kube.list(pods, { namespace: cluster.namespace });
  const processes = await processesOf(cluster.dataDir);
  const agent = processes.find(({ commandLine }) => commandLine.includes("main.ts agent"));
  if (!agent || items.length !== 1) throw new Error("expected exactly one agent");
  await freeze(agent.pid);
  return { go: () => process.kill(agent.pid, "SIGCONT") };
};
/** Kills the API while the agent is frozen, which then continues: frozen for long it would count as dead. */
const killApi = async (agent: { go(): void }): Promise<void> => {
  api.kill("SIGKILL");
  await api.exited;
  agent.go();
  api = await cluster.startApi("api-b");
  pool = poolAt(api.call, pool.id);
};
/** Resolves when a request holds the lock of what it changes. */
const whenLocked = async (): Promise<void> => {
  const redis = connectRedis(cluster.redisUrl, createLogger("silent", "test"));
  try {
    await whenReady(redis, 10_000);
    await eventually("a lock is held", async () => (await redis.keys("bp:*:turn")).length > 0);
  } finally {
    redis.disconnect();
  }
};
const works = async (): Promise<void> => {
  const session = await pool.acquire();
  const cdp = await openCdp(session);
  expect(await cdp.version()).toContain("Chrome");
  cdp.close();
  expect(await pool.release(session)).toBe(204);
  // A reset that the next test freezes would end the browser.
  await eventually("no browser is being made clean", async () => {
    const { browsers } = await leases.store.snapshot(await leases.uidOf(pool.id));
    return browsers.every(({ state }) => state === "idle");
  });
};

// BROWSER-29
test("when an API dies while it changes a browser, another one carries the repeated request out", async () => {
  const session = await pool.acquire();
  const change = () => api.call("PATCH", `/browsers/${session.session_id}`, { viewport: { width: 640, height: 480 } });
  const agent = await freezeAgent();
  const asked = change().catch(() => "hung up");
  await whenLocked();
  await killApi(agent);
  expect(await asked).toBe("hung up");
  const answer = await eventually("the lock of the dead one is over", async () => {
    const response = await change();
    return response.status === 200 && ((await response.json()) as { viewport: object });
  });
  expect(answer.viewport).toMatchObject({ width: 640, height: 480 });
  expect(await pool.release(session)).toBe(204);
  await whenState("idle");
  await works();
});

// LEASE-44
test("when an API dies between the grant and its bind, the browser becomes idle again, although the bind arrives late", async () => {
  const agent = await freezeAgent();
  const asked = pool.ask().catch(() => "hung up");
  await whenState("leased");
  await killApi(agent);
  expect(await asked).toBe("hung up");
  await whenState("idle");
  await works();
});

// LEASE-44
test("when an API dies between the release and the offer, the browser becomes idle again", async () => {
  const session = await pool.acquire();
  const agent = await freezeAgent();
  const asked = pool.release(session).catch(() => "hung up");
  await whenState("releasing");
  await killApi(agent);
  expect(await asked).toBe("hung up");
  await whenState("idle");
  await works();
});

// LEASE-48
test("an operator that is frozen past its lease and wakes changes nothing more, while another one leads", async () => {
  const size = 3;
  const podNames = async (): Promise<string[]> =>
    (await cluster.kube.list(pods, { namespace: cluster.namespace })).items.map(({ metadata }) => metadata.name).sort();
  const standby = startOperator("operator-b");
  // A start every 4 s, so the leader is frozen in the middle of the filling.
  const slowly = { size, fill_rate_per_minute: 500 };
  expect((await api.call("PATCH", `/browser_pools/${pool.id}`, slowly)).status).toBe(200);
  await eventually("it has begun", async () => (await podNames()).length > 1);
  await freeze(operator.process.pid);
  await standby.logged("leading");
  await pool.whenCounts({ acquired: 0, available: size });
  const before = await podNames();
  const { resourceVersion } = (await cluster.kube.get(leaseObjects, leaderLease))?.metadata ?? {};

  operator.kill("SIGCONT");
  await operator.logged("no longer leading");
  await eventually("the other one has renewed its lease", async () => {
    const lease = await cluster.kube.get(leaseObjects, leaderLease);
    return lease?.metadata.resourceVersion !== resourceVersion && lease?.spec?.holderIdentity?.startsWith("operator-b");
  });
  expect(await podNames()).toEqual(before);
  await works();
});

// LEASE-46, HTTP-20
test("after a loss of all data without an operator, an unknown session gets 503, and is found again once an operator runs", async () => {
  const session = await pool.acquire();
  const cdp = await openCdp(session);
  for (const replica of operators) replica.kill("SIGKILL");
  await Promise.all(operators.map(({ exited }) => exited));
  await flushRedis(cluster.redisUrl);

  const path = `/browser_pools/${pool.id}`;
  for (const [method, url, body] of [
    ["GET", `/browsers/${session.session_id}`],
    ["DELETE", `/browsers/${session.session_id}`],
    ["POST", `${path}/release`, { session_id: session.session_id }],
    ["DELETE", path],
  ] as const) {
    const answer = await api.call(method, url, body);
    expect([method, url, answer.status, answer.headers.get("retry-after")]).toEqual([method, url, 503, "1"]);
  }
  await expect(openCdp(session)).rejects.toThrow("503");
  expect(await cdp.version()).toContain("Chrome");

  startOperator("operator-c");
  await eventually(
    "it is found again",
    async () => (await api.call("GET", `/browsers/${session.session_id}`)).status === 200,
  );
  expect(await cdp.version()).toContain("Chrome");
  expect(await pool.release(session)).toBe(204);
  await eventually("an unknown session is not found", async () => {
    const { status } = await api.call("GET", "/browsers/unknown");
    return status === 404;
  });
});

const leaderLease = { namespace: "browserpool-system", name: "browserpool-operator" };
