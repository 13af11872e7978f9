/** Browsers in pods whose only address is an IPv6 one, and an api that listens on IPv6. */
import { once } from "node:events";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { pods } from "../../src/platform/kube/resource-type.ts";
import type { ApiReplica } from "../support/cluster.ts";
import { fullPool, openCdp, type PoolClient } from "../support/pool-client.ts";
import { type SimulatedCluster, startSimulatedCluster } from "../support/simulated-node/simulated-cluster.ts";

let cluster: SimulatedCluster;
let api: ApiReplica;
let pool: PoolClient;

beforeAll(async () => {
  cluster = await startSimulatedCluster({ ipv6: true, env: { BROWSERPOOL_HOST: "::1" } });
  cluster.startOperator("operator");
  api = await cluster.startApi("api");
  pool = await fullPool(api.call, 1);
});
afterAll(() => cluster?.[Symbol.asyncDispose]());

test("the api and its pod have IPv6 addresses", async () => {
  expect(new URL(api.url).hostname).toBe("[::1]");
  const { items } = await cluster.kube.list(pods, { namespace: cluster.namespace });
  expect(items.map(({ status }) => status?.podIP)).toEqual(["::1"]);
});

test("its browser is acquired, driven through the gateway, released, made anew and acquired again", async () => {
  const first = await pool.acquire();
  expect(new URL(first.cdp_ws_url).hostname).toBe("[::1]");
  const cdp = await openCdp(first);
  expect(await cdp.version()).toContain("Chrome");
  expect(await pool.release(first)).toBe(204);
  await cdp.closed;
  const second = await pool.acquire();
  expect(second.session_id).not.toBe(first.session_id);
  expect(await pool.release(second, false)).toBe(204);
  // A new pod, by its own bind, inspection and probe.
  await pool.whenCounts({ acquired: 0, available: 1 });
});

const upgradeWith = async (url: string, headers: Record<string, string>): Promise<number> => {
  const socket = new WebSocket(url, { headers });
  socket.on("error", () => undefined);
  const [, response] = await once(socket, "unexpected-response");
  socket.terminate();
  return response.statusCode;
};

// AUTH-9
test("pages of other origins, and requests for other IPv6 hosts, are refused", async () => {
  const session = await pool.acquire();
  expect(await upgradeWith(session.cdp_ws_url, { origin: "http://[fd00::5]:8080" })).toBe(403);
  expect(await upgradeWith(session.cdp_ws_url, { host: "[fd00::5]:8080" })).toBe(403);
  await pool.release(session);
});
