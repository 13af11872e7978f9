/** A replica of the API that is stopped with its connections open, as on a machine that lost its power (LEASE-54). */
import { afterAll, beforeAll, expect, test } from "vitest";
import { pods } from "../../src/platform/kube/resource-type.ts";
import { eventually } from "../support/eventually.ts";
import { type LeaseView, viewLeases } from "../support/lease-view.ts";
import { fullPool, poolAt } from "../support/pool-client.ts";
import { freeze } from "../support/processes.ts";
import { type SimulatedCluster, startSimulatedCluster } from "../support/simulated-node/simulated-cluster.ts";

const size = 10;
const stuck = 200;

let cluster: SimulatedCluster;
let leases: LeaseView;

beforeAll(async () => {
  cluster = await startSimulatedCluster();
  leases = await viewLeases(cluster.redisUrl, cluster.kube, cluster.namespace);
});
afterAll(async () => {
  leases?.close();
  await cluster?.[Symbol.asyncDispose]();
});

// LEASE-54
test("200 callers who wait at a frozen replica keep no browser from the callers of others, and lose nothing when it wakes up", async ({
  annotate,
}) => {
  cluster.startOperator("operator-a");
  const frozen = await cluster.startApi("api-frozen");
  const api = await cluster.startApi("api-well");
  const pool = await fullPool(api.call, size);
  const uid = await leases.uidOf(pool.id);
  const before = (await cluster.kube.list(pods, { namespace: cluster.namespace })).items.length;
  const whenWaiting = (count: number) =>
    eventually(`${count} wait`, async () => (await leases.store.snapshot(uid)).waiting === count);

  const held = await Promise.all(Array.from({ length: size }, () => pool.acquire()));
  const waiting = Array.from({ length: stuck }, () => poolAt(frozen.call, pool.id).ask(60));
  await whenWaiting(stuck);
  await freeze(frozen.process.pid);
  const frozenAtMs = performance.now();
  // Behind the stuck ones, and with the browsers that come back at once: these are granted to the frozen replica.
  const served = Array.from({ length: 2 * size }, async () => {
    const session = await pool.acquire();
    const afterMs = performance.now() - frozenAtMs;
    expect(await pool.release(session)).toBe(204);
    return afterMs;
  });
  await whenWaiting(stuck + 2 * size);
  await Promise.all(held.map((session) => pool.release(session)));
  const afterMs = await Promise.all(served);
  await annotate(`served after ${Math.round(Math.min(...afterMs))} to ${Math.round(Math.max(...afterMs))} ms`);

  frozen.kill("SIGCONT");
  const answers = await Promise.all(
    waiting.map(async (asked) => {
      const first = await asked;
      // The replica's calls that were under way have run out of time when it wakes up: their callers are told to
      // repeat.
      const answer = first.status === 503 ? await poolAt(frozen.call, pool.id).ask(60) : first;
      if (answer.status === 200) expect(await pool.release((await answer.json()) as { session_id: string })).toBe(204);
      return answer.status;
    }),
  );
  expect(new Set(answers)).toEqual(new Set([200]));
  await pool.whenCounts({ acquired: 0, available: size });
  expect((await cluster.kube.list(pods, { namespace: cluster.namespace })).items).toHaveLength(before);
});
