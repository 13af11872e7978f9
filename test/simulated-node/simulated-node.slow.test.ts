/** The simulated node with a real control plane, operator and API: what tests and benchmarks on it rely on. */
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pods as podType } from "../../src/platform/kube/resource-type.ts";
import type { ApiReplica } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { type LeaseView, viewLeases } from "../support/lease-view.ts";
import { fullPool, openCdp, type PoolClient } from "../support/pool-client.ts";
import type { AgentEvent } from "../support/simulated-node/agent-event.ts";
import { type SimulatedCluster, startSimulatedCluster } from "../support/simulated-node/simulated-cluster.ts";
import type { SimulatedPod } from "../support/simulated-node/simulated-node.ts";
import type { Switches } from "../support/simulated-node/switches.ts";

const size = 200;
let cluster: SimulatedCluster;
let leases: LeaseView;
let api: ApiReplica;
let pool: PoolClient;

beforeAll(async () => {
  cluster = await startSimulatedCluster();
  leases = await viewLeases(cluster.redisUrl, cluster.kube, cluster.namespace);
  cluster.startOperator("operator");
  api = await cluster.startApi("api");
  pool = await fullPool(api.call, size);
});
afterAll(async () => {
  leases?.close();
  await cluster?.[Symbol.asyncDispose]();
});

const events = async (): Promise<AgentEvent[]> => {
  const lines = (await readFile(cluster.eventsFile, "utf8")).split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line) as AgentEvent);
};
const eventsOf = async (what: AgentEvent["what"], browser: string): Promise<AgentEvent[]> =>
  (await events()).filter((event) => event.what === what && event.browser === browser);
const podAt = async (uid: string): Promise<SimulatedPod | undefined> =>
  (await cluster.node.pods()).find((pod) => pod.uid === uid);

/** A pool of one browser, so that every caller gets that one. */
const smallPool = async (): Promise<{ one: PoolClient; uid: string }> => {
  const one = await fullPool(api.call, 1);
  const [uid = ""] = await leases.podsIn(one.id, "idle");
  return { one, uid };
};
const replaced = (uid: string) => eventually(`${uid} is gone`, async () => (await podAt(uid)) === undefined);

test("all pods are ready, each at its own address", async () => {
  const shown = (await cluster.node.pods()).filter(({ ready }) => ready);
  expect(shown).toHaveLength(size);
  expect(new Set(shown.map(({ address }) => address)).size).toBe(size);
});

test("a lease is bound, used through the gateway and ended, and the log shows it with the holder of each command", async () => {
  const { one, uid } = await smallPool();
  const session = await one.acquire();
  expect((await podAt(uid))?.holder).toBe(session.session_id);
  const cdp = await openCdp(session);
  expect(await cdp.version()).toContain("simulated");
  expect((await podAt(uid))?.connections).toBe(1);
  expect(await one.release(session)).toBe(204);
  await cdp.closed;
  expect((await podAt(uid))?.holder).toBeUndefined();

  await eventually("the end is in the log", async () => (await eventsOf("ended", uid)).length === 1);
  const [bound] = await eventsOf("bound", uid);
  const [command] = await eventsOf("cdp", uid);
  const [ended] = await eventsOf("ended", uid);
  expect(bound).toMatchObject({ session: session.session_id, seq: 1 });
  expect(command).toMatchObject({ holder: session.session_id });
  expect(ended).toMatchObject({ session: session.session_id, seq: 1 });
  expect([bound?.at, command?.at, ended?.at]).toEqual([bound?.at, command?.at, ended?.at].sort());
});

test.each<[string, Switches]>([
  ["refuses connections", { refusing: true }],
  ["takes them and does nothing", { dead: true }],
  ["is slower than its caller's patience", { slowMs: 60_000 }],
  ["has a browser that does not answer", { unhealthy: true }],
])("an agent that %s gets no lease, and its browser is replaced", async (_what, switches) => {
  const { one, uid } = await smallPool();
  expect(await cluster.node.turn({ pods: [uid] }, switches)).toEqual([uid]);
  const acquired = one.acquire();
  await eventually("its bind has failed", async () => {
    const { browsers } = await leases.store.snapshot(await leases.uidOf(one.id));
    return browsers.every(({ id, state }) => id !== uid || (state !== "idle" && state !== "leased"));
  });
  await cluster.node.happen({ pods: [uid] }, "crash-agent"); // a frozen agent would use up its grace period
  const session = await acquired;
  expect(await leases.podOf(one.id, session.session_id)).not.toBe(uid);
  await replaced(uid);
});

test("a repaired agent is ready and bound as before", async () => {
  const { one, uid } = await smallPool();
  const name = (await podAt(uid))?.name ?? "";
  const isReady = async (): Promise<boolean> =>
    (await cluster.kube.get(podType, { namespace: cluster.namespace, name }))?.status?.conditions?.some(
      ({ type, status }) => type === "Ready" && status === "True",
    ) ?? false;
  const session = await one.acquire();
  await cluster.node.turn({ pods: [uid] }, { refusing: true });
  await eventually("the pod is not ready", async () => !(await isReady()));
  await cluster.node.turn({ pods: [uid] }, {});
  await eventually("the pod is ready", isReady);
  expect((await podAt(uid))?.holder).toBe(session.session_id);
  expect(await one.release(session)).toBe(204);
  await one.whenCounts({ acquired: 0, available: 1 });
});

test("an agent that lies about a bind has not taken it", async () => {
  const { one, uid } = await smallPool();
  await cluster.node.turn({ pods: [uid] }, { lying: "bind" });
  await one.ask(0);
  expect((await podAt(uid))?.holder).toBeUndefined();
  expect(await eventsOf("bound", uid)).toEqual([]);
});

test("an agent that restarts in its pod has no lease", async () => {
  const { one, uid } = await smallPool();
  const session = await one.acquire();
  await cluster.node.happen({ pods: [uid] }, "forget");
  expect((await podAt(uid))?.holder).toBeUndefined();
  await expect(openCdp(session)).rejects.toThrow();
});

test.each([
  ["crash", "browser_crashed"],
  ["crash-agent", "browser_lost"],
  ["evict", "browser_lost"],
] as const)(
  "after %s the lease has ended with %s, the sockets are cut and the pod is replaced",
  async (accident, why) => {
    const { one, uid } = await smallPool();
    const session = await one.acquire();
    const cdp = await openCdp(session);
    await cluster.node.happen({ pods: [uid] }, accident);
    await cdp.closed;
    await replaced(uid);
    const ended = await eventually("the lease has ended", async () =>
      leases.store.endedLease(await leases.uidOf(one.id), session.session_id),
    );
    expect(ended.reason).toBe(why);
    await one.whenCounts({ acquired: 0, available: 1 });
  },
);

test("starts take the configured time, and the configured share fails", async () => {
  // Fails by a wait that runs out: for a failed start, or for one that succeeds.
  await cluster.node.starts({ failingShare: 1 });
  const answer = await api.call("POST", "/browser_pools", { size: 1, headless: true, fill_rate_per_minute: 6000 });
  const { id } = (await answer.json()) as { id: string };
  await eventually("a start has failed", async () => (await events()).some(({ code }) => code === "start_failed"));
  await cluster.node.starts({ delayMs: 300, jitterMs: 100 });
  await eventually("one is up", async () => (await leases.podsIn(id, "idle")).length === 1);
});

test("a share of the pods is the same for the same seed", async () => {
  const bigPool = await leases.uidOf(pool.id);
  const which = { pool: bigPool, share: 0.25, seed: 7 };
  const chosen = await cluster.node.turn(which, { slowMs: 1 });
  expect(chosen).toHaveLength(size / 4);
  expect(await cluster.node.turn(which, {})).toEqual(chosen);
  expect(await cluster.node.turn({ ...which, seed: 8 }, {})).not.toEqual(chosen);
});
