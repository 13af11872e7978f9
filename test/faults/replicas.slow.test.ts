/** Replicas of the API and the operator that die or are told to stop, each in its own process. */
import { once } from "node:events";
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pods } from "../../src/platform/kube/resource-type.ts";
import { type ApiReplica, type Cluster, type Replica, startCluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { type LeaseView, viewLeases } from "../support/lease-view.ts";
import { fullPool, openCdp, type PoolClient, poolAt, type Session } from "../support/pool-client.ts";

let cluster: Cluster;
let leases: LeaseView;
let operator: Replica;
let api: ApiReplica;
let pool: PoolClient;

beforeAll(async () => {
  cluster = await startCluster({ env: { BROWSERPOOL_STOP_GRACE_SECONDS: "4" } });
  leases = await viewLeases(cluster.redisUrl, cluster.kube, cluster.namespace);
  operator = cluster.startOperator("operator-a");
  api = await cluster.startApi("api-a");
  pool = await fullPool(api.call, 1);
});
afterAll(async () => {
  leases?.close();
  await cluster?.[Symbol.asyncDispose]();
});

/** The same session through another replica, as behind a load balancer. */
const through = (replica: ApiReplica, { session_id, cdp_ws_url }: Session): Session => ({
  session_id,
  cdp_ws_url: cdp_ws_url.replace(/^ws:\/\/[^/]+/, replica.url.replace("http", "ws")),
});
const whenWaiting = (count: number) =>
  eventually(`${count} wait`, async () => (await leases.store.snapshot(await leases.uidOf(pool.id))).waiting === count);

// LEASE-41
test("an API that is killed loses no lease, and its waiting callers delay no others, also after a restart under the same name", async () => {
  const session = await pool.acquire();
  const cut = await openCdp(session);
  const dead = pool.ask().catch(() => "hung up");
  await whenWaiting(1);
  api.kill("SIGKILL");
  await Promise.all([api.exited, cut.closed]);
  expect(await dead).toBe("hung up");

  api = await cluster.startApi("api-a");
  pool = poolAt(api.call, pool.id);
  const cdp = await openCdp(through(api, session));
  expect(await cdp.version()).toContain("Chrome");
  const alive = pool.acquire();
  await whenWaiting(2);
  expect(await pool.release(session)).toBe(204);
  await cdp.closed;
  const next = await alive;
  await whenWaiting(0);
  expect(await pool.release(next)).toBe(204);
  await pool.whenCounts({ acquired: 0, available: 1 });
});

// LEASE-50
test("an API that is told to stop answers open requests and waiting callers, asks all to reconnect, and exits with 0", async () => {
  const session = await pool.acquire();
  const waiting = pool.ask();
  await whenWaiting(1);
  const headers = {
    authorization: `Bearer ${cluster.apiKey}`,
    "content-type": "application/json",
    expect: "100-continue",
  };
  const begun = request(`${api.url}/browser_pools/${pool.id}`, { method: "PATCH", headers });
  // The API has the request, and waits for its body.
  await once(begun, "continue");
  begun.write('{"timeout_seconds"');

  api.kill("SIGTERM");
  await eventually("it is not ready", async () => (await fetch(`${api.url}/readyz`)).status === 503);
  begun.end(": 900}");
  const [response] = await once(begun, "response");
  expect([response.statusCode, response.headers.connection]).toEqual([200, "close"]);
  expect(await text(response)).toContain('"timeout_seconds":900');
  expect(await pool.release(session)).toBe(204);
  const answer = await waiting;
  expect([answer.status, answer.headers.get("connection")]).toEqual([200, "close"]);
  expect(await pool.release((await answer.json()) as Session)).toBe(204);
  expect(await api.exited).toBe(0);
  api = await cluster.startApi("api-b");
  pool = poolAt(api.call, pool.id);
});

// LEASE-66
test("an API at the end of its grace period sends waiting callers away, and sockets by a code, which reconnect elsewhere, and exits with 0", async () => {
  const session = await pool.acquire();
  const cdp = await openCdp(session);
  const waiting = pool.ask();
  await whenWaiting(1);
  api.kill("SIGTERM");
  await eventually("it is not ready", async () => (await fetch(`${api.url}/readyz`)).status === 503);
  expect(await cdp.version()).toContain("Chrome");
  const answer = await waiting;
  expect(answer.status).toBe(503);
  expect(answer.headers.get("retry-after")).toMatch(/^\d+$/);
  expect(await api.exited).toBe(0);
  expect(await cdp.closed).toEqual([1012, Buffer.from("this replica stops; connect to the same URL again")]);

  api = await cluster.startApi("api-c");
  pool = poolAt(api.call, pool.id);
  const again = await openCdp(through(api, session));
  expect(await again.version()).toContain("Chrome");
  again.close();
  expect(await pool.release(session)).toBe(204);
});

// FILL-RATE-6
test("when an operator is killed while it fills a pool, another one continues and starts no browser twice", async () => {
  const standby = cluster.startOperator("operator-b");
  const size = 4;
  let most = 0;
  expect((await api.call("PATCH", `/browser_pools/${pool.id}`, { size })).status).toBe(200);
  await eventually("it has begun", async () => {
    const { items } = await cluster.kube.list(pods, { namespace: cluster.namespace });
    return items.length > 1;
  });
  operator.kill("SIGKILL");
  await standby.logged("leading");
  await eventually("the pool is full", async () => {
    const { items } = await cluster.kube.list(pods, { namespace: cluster.namespace });
    most = Math.max(most, items.length);
    return (await pool.counts()).available === size;
  });
  await sleep(1000);
  expect((await cluster.kube.list(pods, { namespace: cluster.namespace })).items).toHaveLength(size);
  expect(most).toBe(size);
  standby.kill("SIGTERM");
  expect(await standby.exited).toBe(0);
});
