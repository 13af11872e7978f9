/** Many browsers are lost at once, while no operator runs. */
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { browserPoolKind } from "../../src/core/model/pools/browser-pool.ts";
import { createLogger } from "../../src/platform/base/log.ts";
import type { Pod } from "../../src/platform/kube/objects.ts";
import { startReflector } from "../../src/platform/kube/reflector.ts";
import { pods } from "../../src/platform/kube/resource-type.ts";
import type { ApiReplica } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { forAll } from "../support/for-all.ts";
import { type LeaseView, viewLeases } from "../support/lease-view.ts";
import { newPool, type PoolClient } from "../support/pool-client.ts";
import { type SimulatedCluster, startSimulatedCluster } from "../support/simulated-node/simulated-cluster.ts";

let cluster: SimulatedCluster;
let api: ApiReplica;
let leases: LeaseView;

beforeAll(async () => {
  cluster = await startSimulatedCluster();
  leases = await viewLeases(cluster.redisUrl, cluster.kube, cluster.namespace);
  api = await cluster.startApi("api");
});
afterAll(async () => {
  leases?.close();
  await cluster?.[Symbol.asyncDispose]();
});

const poolCount = 48;
const poolSize = 2;

/** Watches pods; the promise in it resolves with the first one that is made from now on. */
const watchForNewPod = async () => {
  const { namespace, kube } = cluster;
  const known = new Set((await kube.list(pods, { namespace })).items.map(({ metadata: { uid } }) => uid));
  const made = Promise.withResolvers<string>();
  const onChange = ({ metadata: { uid } }: Pod): void => {
    if (!known.has(uid)) made.resolve(uid);
  };
  const watch = startReflector({ kube, type: pods, namespace, onChange, log: createLogger("silent", "test") });
  onTestFinished(watch.stop);
  await watch.synced(AbortSignal.timeout(30_000));
  return { first: made.promise };
};

/** The browsers that somebody has or may get, of all pools. */
const usableOf = async (uids: string[]) =>
  (await forAll(uids, 16, (uid) => leases.store.snapshot(uid)))
    .flatMap(({ browsers }) => browsers)
    .filter(({ state }) => state !== "retired");

// LEASE-70
test("a new leader knows all losses before it replaces the first one, and their sessions are over", async () => {
  const operator = cluster.startOperator("operator");
  await operator.logged("leading");
  const made: PoolClient[] = await forAll(
    Array.from({ length: poolCount }, () => poolSize),
    4,
    (size) => newPool(api.call, size),
  );
  await forAll(made, 8, (pool) => pool.whenCounts({ acquired: 0, available: poolSize }));
  const uids = await forAll(made, 8, ({ id }) => leases.uidOf(id));
  const sessions = await forAll(made, 8, (pool) => pool.acquire());
  operator.kill("SIGKILL");
  await operator.exited;
  const lost = new Set(await cluster.node.happen({ share: 1, seed: 1 }, "crash"));
  expect(lost.size).toBe(poolCount * poolSize);

  const replacing = await watchForNewPod();
  cluster.startOperator("next");
  await replacing.first;
  const usable = await usableOf(uids);
  expect(usable.filter(({ id }) => lost.has(id))).toEqual([]);
  const statuses = await forAll(sessions, 8, async ({ session_id }) => {
    const answer = await api.call("GET", `/browsers/${session_id}`);
    await answer.body?.cancel();
    return answer.status;
  });
  expect(new Set(statuses)).toEqual(new Set([404]));
  await eventually("all are replaced", async () => (await usableOf(uids)).length === poolCount * poolSize);
  const pools = await cluster.kube.list(browserPoolKind, { namespace: cluster.namespace });
  expect(pools.items.filter(({ status }) => (status?.failedStarts ?? 0) > 0)).toEqual([]);
}, 180_000);
