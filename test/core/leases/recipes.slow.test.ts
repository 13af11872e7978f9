/** The recipes of docs/redis.md, with TLS: the service under load while a master dies and its replica takes over. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Redis } from "ioredis";
import { afterEach, beforeEach, expect, test } from "vitest";
import { poolKey } from "../../../src/core/leases/pool-keys.ts";
import { browserPoolKind } from "../../../src/core/model/pools/browser-pool.ts";
import { eventually } from "../../support/eventually.ts";
import { fullPool, openCdp, type PoolClient } from "../../support/pool-client.ts";
import { recipePasswords } from "../../support/redis-recipes.ts";
import { type RedisServer, redisCli, startRedisServer } from "../../support/redis-servers.ts";
import {
  clusterUrl,
  type StartServer,
  sentinelUrl,
  startClusterSet,
  startSentinelSet,
} from "../../support/redis-sets.ts";
import { startSimulatedCluster } from "../../support/simulated-node/simulated-cluster.ts";
import { createTestCa } from "../../support/wall/test-ca.ts";

const callers = 9;

/** On a machine under load, ms: what was half-done when the master died is put right after ten seconds. */
const withinMs = 120_000;

let parts: AsyncDisposableStack;
let tlsFolder: string;
let start: StartServer<RedisServer>;

beforeEach(async () => {
  parts = new AsyncDisposableStack();
  tlsFolder = await mkdtemp(join(tmpdir(), "redis-tls-"));
  parts.defer(() => rm(tlsFolder, { recursive: true, force: true }));
  const authority = parts.use(await createTestCa());
  const { key, cert } = await authority.issue(["localhost"]);
  const files = { "tls.key": key, "tls.crt": cert, "ca.crt": authority.certificate };
  for (const [name, text] of Object.entries(files)) await writeFile(join(tlsFolder, name), text, { mode: 0o600 });
  start = async (lines, { isSentinel }) => {
    const login = { password: isSentinel ? recipePasswords.sentinels : recipePasswords.servers };
    return parts.use(await startRedisServer(lines, { isSentinel, login, ca: authority.certificate }));
  };
});
afterEach(() => parts.disposeAsync());

/** The service on this Redis, with some pools. */
const startService = async (url: string) => {
  const env = { REDIS_URL: url, NODE_EXTRA_CA_CERTS: join(tlsFolder, "ca.crt") };
  const cluster = parts.use(await startSimulatedCluster({ env }));
  cluster.startOperator("operator");
  const { call } = await cluster.startApi("api");
  return { call, pools: await Promise.all([2, 2, 2].map((size) => fullPool(call, size))), cluster };
};

/** Callers who take and give back browsers, more of them than there are browsers, until they are stopped. */
const startLoad = (pools: PoolClient[]) => {
  const stopping = new AbortController();
  const served = Array.from({ length: callers }, () => 0);
  const work = async (index: number): Promise<void> => {
    const pool = pools[index % pools.length] as PoolClient;
    while (!stopping.signal.aborted) {
      const session = await pool.acquire().catch(() => undefined);
      if (!session) continue;
      // A release whose answer was lost may have been done.
      await eventually("a session is released", async () => [204, 404].includes(await pool.release(session)));
      served[index] = (served[index] ?? 0) + 1;
    }
  };
  const working = Promise.all(served.map((_, index) => work(index)));
  return {
    /** Resolves when every caller has been served so many times from now on. */
    whenServed: (times: number) => {
      const before = [...served];
      return eventually(`every caller is served ${times} times`, () =>
        served.every((count, index) => count >= (before[index] ?? 0) + times),
      );
    },
    async stop() {
      stopping.abort();
      await working;
    },
  };
};

/** A session that is held all the time lives on, and callers are served again when `failOver` has resolved. */
const surviveUnderLoad = async (url: string, failOver: (poolUid: string) => Promise<void>): Promise<void> => {
  const { call, pools, cluster } = await startService(url);
  const [first] = pools;
  if (!first) throw new Error("there is no pool");
  const held = await first.acquire();
  const cdp = await openCdp(held);
  const load = startLoad(pools);
  try {
    await load.whenServed(2);
    const objects = await cluster.kube.list(browserPoolKind, { namespace: cluster.namespace });
    await failOver(objects.items[0]?.metadata.uid ?? "");
    await load.whenServed(2);
  } finally {
    await load.stop();
  }
  expect(await cdp.version()).toContain("Chrome");
  await eventually(
    "the session is found",
    async () => (await call("GET", `/browsers/${held.session_id}`)).status === 200,
  );
  cdp.close();
  expect(await first.release(held)).toBe(204);
  await Promise.all(pools.map((pool) => pool.whenCounts({ acquired: 0, available: 2 })));
};

const rolesOf = (admin: Redis): Promise<string> => admin.info("replication").catch(() => "");

test("Sentinel, TLS: callers are served by the replica that takes over", { timeout: withinMs }, async () => {
  const options = { tlsFolder, password: "secret-of-browserpool" };
  const { master, replicas, sentinels } = await startSentinelSet(start, options);
  const [watcher] = sentinels.map((sentinel) => sentinel.admin());
  await eventually("the Sentinels know each other and the replicas", async () => {
    const [fields] = ((await watcher?.call("SENTINEL", "MASTERS")) ?? []) as string[][];
    const seen = new Map(fields?.flatMap((name, index) => (index % 2 ? [] : [[name, fields[index + 1]]])));
    return seen.get("num-slaves") === "2" && seen.get("num-other-sentinels") === "2";
  });
  const admins = replicas.map((replica) => replica.admin());
  await surviveUnderLoad(sentinelUrl(sentinels, options), async () => {
    master.signal("SIGKILL");
    await eventually("a replica is the master", async () =>
      (await Promise.all(admins.map(rolesOf))).some((info) => info.includes("role:master")),
    );
  });
});

test("Cluster, TLS: callers are served by the replica of the master that has died", { timeout: withinMs }, async () => {
  const options = { tlsFolder, password: "secret-of-browserpool" };
  const servers = await startClusterSet(start, { ...options, redisCli: redisCli() });
  const nodes = servers.map((server) => ({ server, admin: server.admin() }));
  await eventually("all nodes call the cluster well, and three copy the others", async () => {
    const seen = await Promise.all(
      nodes.map(async ({ admin }) => `${await admin.cluster("INFO")}${await rolesOf(admin)}`),
    );
    const copies = seen.filter((text) => text.includes("master_link_status:up"));
    return copies.length === 3 && seen.every((text) => text.includes("cluster_state:ok"));
  });
  await surviveUnderLoad(clusterUrl(servers, options), async (poolUid) => {
    const key = poolKey(poolUid, "pool");
    const owns = await Promise.all(
      nodes.map(
        async ({ admin }) =>
          (await rolesOf(admin)).includes("role:master") && (await admin.exists(key).catch(() => 0)) === 1,
      ),
    );
    const owner = nodes[owns.indexOf(true)];
    owner?.server.signal("SIGKILL");
    await eventually("its replica has its place", async () => {
      const seen = await Promise.all(
        nodes.filter((node) => node !== owner).map(({ admin }) => admin.exists(key).catch(() => 0)),
      );
      return seen.includes(1);
    });
  });
});
