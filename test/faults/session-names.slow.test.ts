/** The names of sessions that nobody releases, in the Redis of a local mode as a user runs it. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { namespaces, nodes } from "../../src/kube/resource-type.ts";
import { connectRedis, type RedisConnection, whenReady } from "../../src/redis/connection.ts";
import { sessionNamesKey } from "../../src/redis/keys.ts";
import { browserKind } from "../../src/resources/browser.ts";
import { projectLabel } from "../../src/resources/identity.ts";
import { eventually } from "../support/eventually.ts";
import { silent } from "../support/lease-parts.ts";
import { type LeaseView, viewLeases } from "../support/lease-view.ts";
import { type LocalStack, startLocalStack } from "../support/local-stack.ts";
import { browserPid, fullPool } from "../support/pool-client.ts";
import { processesOf } from "../support/processes.ts";

let stack: LocalStack;
let leases: LeaseView;
let redis: RedisConnection;
let key: string;

beforeAll(async () => {
  stack = await startLocalStack({ env: { BROWSERPOOL_DRAIN_DEADLINE_SECONDS: "10" } });
  leases = await viewLeases(stack.redis_url, stack.kube);
  redis = connectRedis(stack.redis_url, silent);
  await whenReady(redis, 10_000);
  const namespace = await stack.kube.get(namespaces, { name: "default" });
  key = sessionNamesKey(namespace?.metadata.labels?.[projectLabel] ?? "");
  await redis.hset(key, orphan, "a-deleted-pool/its-session");
});
afterAll(async () => {
  redis?.disconnect();
  leases?.close();
  await stack?.[Symbol.asyncDispose]();
});

/** The name that a replica reserved before it died. The operator's sweeps are a minute apart, so its test is the last one. */
const orphan = "orphan";

const begin = async (path: string, body: object): Promise<string> => {
  const response = await stack.call("POST", path, body);
  expect(response.status).toBeLessThan(300);
  return ((await response.json()) as { session_id: string }).session_id;
};

const poolWith = async (size: number, fields: object = {}): Promise<string> =>
  (await fullPool(stack.call, size, fields)).id;
const acquire = (pool: string, name: string): Promise<string> => begin(`/browser_pools/${pool}/acquire`, { name });
const podOf = (pool: string, session: string): Promise<string> => leases.podOf(pool, session);
const isFree = async (name: string): Promise<boolean> => (await redis.hexists(key, name)) === 0;
const whenFree = (name: string): Promise<boolean> => eventually(`${name} is free`, () => isFree(name));

// LEASE-6, LEASE-56
test("a name is free again when its session ends by itself, and nobody asks for it", async () => {
  const pool = await poolWith(2);
  const [short, old] = [await poolWith(1, { timeout_seconds: 10 }), await poolWith(1, { max_session_seconds: 10 })];
  const crashed = await acquire(pool, "crashed");
  const lost = await acquire(pool, "lost");
  await acquire(short, "timed-out");
  await acquire(old, "too-old");
  const onDemand = await begin("/browsers", { headless: true, name: "deleted" });
  const ways = ["crashed", "lost", "timed-out", "too-old", "deleted"];
  expect(await redis.hkeys(key)).toEqual(expect.arrayContaining(ways));

  process.kill(await browserPid(stack.dataDir, await podOf(pool, crashed)), "SIGKILL");
  const agents = await processesOf(`${stack.dataDir}/pods/${await podOf(pool, lost)}`);
  const agent = agents.find(({ commandLine }) => commandLine.includes("main.ts agent"));
  process.kill(agent?.pid ?? 0, "SIGKILL");
  await stack.kube.delete(browserKind, { namespace: "default", name: onDemand }, {});
  await Promise.all(ways.map(whenFree));
});

// LEASE-6, LEASE-56
test("a name is free again when its pool is deleted by force", async () => {
  const pool = await poolWith(1);
  await acquire(pool, "forced");
  expect(await isFree("forced")).toBe(false);
  expect((await stack.call("DELETE", `/browser_pools/${pool}`, { force: true })).status).toBe(204);
  await whenFree("forced");
});

// LEASE-6, LEASE-56
test("a name is free again when its session ends with the node's drain deadline", async () => {
  const pool = await poolWith(1);
  await acquire(pool, "drained");
  expect(await isFree("drained")).toBe(false);
  await stack.kube.patch(nodes, { name: "local" }, { spec: { unschedulable: true } });
  await whenFree("drained");
});

// LEASE-56
test("a name that nobody frees goes in one of the operator's sweeps, and then Redis keeps none", async () => {
  await eventually("no name is left", async () => (await redis.exists(key)) === 0, 180_000);
}, 200_000);
