/** What callers are answered while Redis is full, and that everything goes on when it no longer is. */
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { fullPool, openCdp, type PoolClient, type Session } from "../support/pool-client.ts";
import { type SimulatedCluster, startSimulatedCluster } from "../support/simulated-node/simulated-cluster.ts";

type Body = { code?: string; inner_error?: { code: string } };

let cluster: SimulatedCluster;
let call: Awaited<ReturnType<SimulatedCluster["startApi"]>>["call"];
let url: string;
let redis: Redis;
let pool: PoolClient;
let held: Session[];

beforeAll(async () => {
  cluster = await startSimulatedCluster();
  cluster.startOperator("operator");
  ({ call, url } = await cluster.startApi("api"));
  redis = new Redis(cluster.redisUrl);
  pool = await fullPool(call, 4);
  held = [await pool.acquire(), await pool.acquire(), await pool.acquire()];
  await redis.config("SET", "maxmemory", "1");
});
afterAll(async () => {
  redis.disconnect();
  await cluster[Symbol.asyncDispose]();
});

const session = (index: number): string => held[index]?.session_id ?? "";
const keyed = (path: string, body: object): Promise<Response> =>
  fetch(url + path, {
    method: "POST",
    headers: {
      authorization: `Bearer ${cluster.apiKey}`,
      "content-type": "application/json",
      "idempotency-key": crypto.randomUUID(),
    },
    body: JSON.stringify(body),
  });

describe("while Redis is full", () => {
  // LIMIT-27, HTTP-20
  test.each<[string, () => Promise<Response>]>([
    ["an acquire", () => call("POST", `/browser_pools/${pool.id}/acquire`, {})],
    ["an acquire with a name", () => call("POST", `/browser_pools/${pool.id}/acquire`, { name: "new" })],
    ["an acquire with an Idempotency-Key", () => keyed(`/browser_pools/${pool.id}/acquire`, {})],
    ["an on-demand browser", () => call("POST", "/browsers", { headless: true })],
    ["a change of tags", () => call("PATCH", `/browsers/${session(0)}`, { tags: { a: "b" } })],
    ["a change of a name", () => call("PATCH", `/browsers/${session(0)}`, { name: "other" })],
  ])("%s gets 503 with Retry-After and the reason", async (_, ask) => {
    const answer = await ask();
    const { code, inner_error } = (await answer.json()) as Body;
    expect([answer.status, code, inner_error?.code]).toEqual([503, "unavailable", "redis_full"]);
    expect(answer.headers.get("retry-after")).toBe("2");
  });

  // LIMIT-27
  test.each<[string, () => Promise<Response>, number]>([
    ["a session", () => call("GET", `/browsers/${session(0)}`), 200],
    ["the sessions", () => call("GET", "/browsers?status=all"), 200],
    ["a pool", () => call("GET", `/browser_pools/${pool.id}`), 200],
    ["the readiness", () => call("GET", "/readyz"), 200],
    ["a release", () => call("POST", `/browser_pools/${pool.id}/release`, { session_id: session(1) }), 204],
    ["the end of a session", () => call("DELETE", `/browsers/${session(2)}`), 204],
    ["a flush", () => call("POST", `/browser_pools/${pool.id}/flush`), 204],
  ])("%s is served as ever", async (_, ask, status) => expect((await ask()).status).toBe(status));

  // LIMIT-27
  test("a session keeps its sockets, and connects anew", async () => {
    const cdp = await openCdp(held[0] ?? { session_id: "", cdp_ws_url: "" });
    cdp.close();
  });
});

// LIMIT-27
test("when there is room again, acquires work and the pool is whole, without a hand", async () => {
  await redis.config("SET", "maxmemory", "0");
  expect((await pool.ask()).status).toBe(200);
  await eventually("all browsers are back", async () => {
    const { acquired, available } = await pool.counts();
    return acquired === 2 && available === 2;
  });
  expect((await call("GET", `/browsers/${session(0)}`)).status).toBe(200);
});
