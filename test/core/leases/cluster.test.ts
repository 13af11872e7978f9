/** A cluster of three nodes: pools are on every node, and one moves to another node while a caller waits. */

import type { Cluster, Redis } from "ioredis";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { poolKey } from "../../../src/core/leases/pool-keys.ts";
import { followSessionChanges } from "../../../src/core/leases/session-changes.ts";
import { newId } from "../../../src/core/objects/new-id.ts";
import { connectSubscriber, mastersOf } from "../../../src/platform/redis/connection.ts";
import { eventually } from "../../support/eventually.ts";
import { type LeaseFlow, runLeaseFlow, startLeaseFlow } from "../../support/lease-flow.ts";
import { silent } from "../../support/lease-parts.ts";
import { type RedisServer, startRedisServer } from "../../support/redis-servers.ts";

const config = ["cluster-enabled yes", "cluster-port %bus", "cluster-node-timeout 2000", "requirepass secret"];
const slotCount = 16384;
const servers = new AsyncDisposableStack();
let nodes: { server: RedisServer; admin: Redis }[];
let flow: LeaseFlow;
let url: string;

beforeAll(async () => {
  nodes = await Promise.all(
    [0, 1, 2].map(async () => {
      const server = servers.use(await startRedisServer(config, { login: { password: "secret" } }));
      return { server, admin: server.admin() };
    }),
  );
  const [first] = nodes;
  const share = Math.ceil(slotCount / nodes.length);
  for (const [index, { server, admin }] of nodes.entries()) {
    await admin.call("CLUSTER", "ADDSLOTSRANGE", index * share, Math.min((index + 1) * share, slotCount) - 1);
    const bus = ((await admin.config("GET", "cluster-port")) as string[])[1] ?? "";
    await first?.admin.call("CLUSTER", "MEET", "127.0.0.1", server.port, bus);
  }
  await eventually("the cluster is up", async () => {
    const infos = await Promise.all(nodes.map(({ admin }) => admin.cluster("INFO") as Promise<string>));
    return infos.every((info) => /cluster_state:ok/.test(info) && /cluster_known_nodes:3/.test(info));
  });
  url = `redis-cluster://:secret@127.0.0.1:${first?.server.port}`;
  flow = await startLeaseFlow(url, { checkMs: 500 });
});
afterAll(async () => {
  await flow?.[Symbol.asyncDispose]();
  await servers.disposeAsync();
});

test("pools work on every node", async () => {
  const pools: string[] = [];
  const owners = new Set<number>();
  while (pools.length < 12 || owners.size < nodes.length) {
    const pool = newId();
    const slot = await nodes[0]?.admin.cluster("KEYSLOT", poolKey(pool, "pool"));
    owners.add(Math.floor(Number(slot) / Math.ceil(slotCount / nodes.length)));
    pools.push(pool);
  }
  await Promise.all(pools.map((pool) => runLeaseFlow(flow, pool)));
  expect(mastersOf(flow.parts.redis as Cluster)).toHaveLength(3);
});

/** Moves a slot as `redis-cli --cluster reshard` does. */
const moveSlot = async (slot: number): Promise<void> => {
  const ids = await Promise.all(nodes.map(({ admin }) => admin.cluster("MYID") as Promise<string>));
  const from = Math.floor(slot / Math.ceil(slotCount / 3));
  const to = (from + 1) % 3;
  const [source, target] = [nodes[from], nodes[to]];
  await target?.admin.call("CLUSTER", "SETSLOT", slot, "IMPORTING", ids[from] ?? "");
  await source?.admin.call("CLUSTER", "SETSLOT", slot, "MIGRATING", ids[to] ?? "");
  const keys = (await source?.admin.call("CLUSTER", "GETKEYSINSLOT", slot, 100)) as string[];
  const migrate = ["127.0.0.1", target?.server.port ?? 0, "", 0, 5000, "AUTH", "secret", "KEYS", ...keys];
  await source?.admin.call("MIGRATE", ...migrate);
  for (const { admin } of [target, source, ...nodes].flatMap((node) => node ?? []))
    await admin.call("CLUSTER", "SETSLOT", slot, "NODE", ids[to] ?? "");
};

test("a caller that waits while its pool moves to another node gets its browser by a message from that node", async () => {
  const poolUid = newId();
  const acquiring = flow.acquire(poolUid, "a");
  await flow.whenWaiting(poolUid, 1);
  const slot = Number(await nodes[0]?.admin.cluster("KEYSLOT", poolKey(poolUid, "pool")));
  await moveSlot(slot);
  await eventually("its replica listens there", async () => {
    const { subscribers } = await flow.parts.store.findLost(poolUid, flow.grants.channel(poolUid), []);
    return subscribers === 1;
  });
  const browser = await flow.addBrowser(poolUid);
  expect(await acquiring).toMatchObject({ kind: "held", lease: { browser } });
});

// EVENT-1, EVENT-4
test("who follows sessions hears those of pools on every node, and learns of a break of its connection", async () => {
  const began: string[] = [];
  let missed = 0;
  const following = followSessionChanges({
    subscriber: connectSubscriber(url, silent),
    redis: flow.parts.redis,
    log: silent,
    onChange({ what, poolUid }) {
      if (what === "began") began.push(poolUid);
    },
    onMissed() {
      missed += 1;
    },
  });
  onTestFinished(() => following.stop());
  await following.live(AbortSignal.timeout(10_000));
  const pools = Array.from({ length: 6 }, () => newId());
  for (const pool of pools) {
    await flow.addBrowser(pool);
    await flow.acquire(pool, "a");
  }
  await eventually("all are heard", () => pools.every((pool) => began.includes(pool)));
  expect(missed).toBe(0);
  for (const { admin } of nodes) await admin.call("CLIENT", "KILL", "TYPE", "pubsub");
  await eventually("it has missed something", () => missed === 1);
  const later = newId();
  await flow.addBrowser(later);
  await flow.acquire(later, "a");
  await eventually("it hears again", () => began.includes(later));
});
