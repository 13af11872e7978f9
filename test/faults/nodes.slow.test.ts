/** Nodes that are cordoned, drained or deleted, and pods that are evicted, on local mode as a user runs it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { browserPoolKind } from "../../src/core/model/pools/browser-pool.ts";
import { locatePrograms } from "../../src/local/locate-programs.mjs";
import type { KubeObject, Pod } from "../../src/platform/kube/objects.ts";
import { events, nodes, pods, type ResourceType } from "../../src/platform/kube/resource-type.ts";
import { eventually } from "../support/eventually.ts";
import { type LeaseView, viewLeases } from "../support/lease-view.ts";
import { type LocalStack, startLocalStack } from "../support/local-stack.ts";
import { fullPool, openCdp, type PoolClient, type Session } from "../support/pool-client.ts";

const namespace = "default";
const node = { name: "local" };
let stack: LocalStack;
let leases: LeaseView;
let pool: PoolClient;

beforeAll(async () => {
  stack = await startLocalStack();
  leases = await viewLeases(stack.redis_url, stack.kube);
});
afterAll(async () => {
  leases?.close();
  await stack?.[Symbol.asyncDispose]();
});
afterEach(async () => {
  await cordon(false);
  await stack.call("DELETE", `/browser_pools/${pool.id}`, { force: true });
  await eventually("no pod is left", async () => (await podsNow()).length === 0);
});

const cordon = (on: boolean) => stack.kube.patch(nodes, node, { spec: { unschedulable: on ? true : null } });
const podsNow = async (): Promise<Pod[]> => (await stack.kube.list(pods, { namespace })).items;
const podOf = async ({ session_id }: Session): Promise<Pod> => {
  const uid = await leases.podOf(pool.id, session_id);
  const pod = (await podsNow()).find(({ metadata }) => metadata.uid === uid);
  if (!pod) throw new Error(`session ${session_id} has no pod`);
  return pod;
};
const isGone =
  ({ metadata }: Pod) =>
  async () =>
    (await stack.kube.get(pods, metadata))?.metadata.uid !== metadata.uid;
const recordOf = async ({ metadata }: Pod) => {
  const { browsers } = await leases.store.snapshot(await leases.uidOf(pool.id));
  return browsers.find(({ id }) => id === metadata.uid);
};
const whenMarked = (pod: Pod, leaving: string) =>
  eventually(`it has the leaving mark ${leaving}`, async () => (await recordOf(pod))?.leaving === leaving);
const endOf = async ({ session_id }: Session): Promise<string | undefined> =>
  (await leases.store.endedLease(await leases.uidOf(pool.id), session_id))?.reason;
const noted = async (reason: string): Promise<(KubeObject & { note: string; series?: { count: number } })[]> => {
  const uid = await leases.uidOf(pool.id);
  const { items } = await stack.kube.list(events, { namespace });
  return (items as (KubeObject & { reason: string; regarding: { uid: string }; note: string })[]).filter(
    (event) => event.reason === reason && event.regarding.uid === uid,
  );
};
const evict = ({ metadata }: Pod, gracePeriodSeconds?: number) =>
  stack.kube.createSubresource(pods, metadata, "eviction", {
    apiVersion: "policy/v1",
    kind: "Eviction",
    metadata: { name: metadata.name, namespace },
    ...(gracePeriodSeconds !== undefined && { deleteOptions: { gracePeriodSeconds } }),
  });

describe("a cordoned node", () => {
  // LEASE-49
  test("loses idle browsers at once, keeps leased ones until their sessions end, and no caller gets a browser on it", async () => {
    pool = await fullPool(stack.call, 3);
    const session = await pool.acquire();
    const cdp = await openCdp(session);
    const held = await podOf(session);
    await cordon(true);
    await eventually("its idle browsers are gone, and others wait for a node", async () => {
      const all = await podsNow();
      return all.length === 3 && all.filter(({ spec }) => !spec?.nodeName).length === 2;
    });
    expect((await pool.ask(1)).status).toBe(204);
    expect(await pool.counts()).toEqual({ acquired: 1, available: 0 });
    expect(await cdp.version()).toContain("Chrome");
    const { status } = (await stack.kube.get(browserPoolKind, { namespace, name: pool.id })) ?? {};
    expect(status?.conditions.find(({ type }) => type === "Progressing")).toMatchObject({ reason: "Unschedulable" });
    expect(status?.failedStarts).toBe(0);
    const told = await noted("NodeLeaving");
    expect(told.map(({ note, series }) => [note, series?.count])).toEqual([
      ["browsers leave the node local, those in use when their sessions end: it is cordoned", undefined],
    ]);

    await pool.release(session);
    await cdp.closed;
    await eventually("its browser is gone", isGone(held));
    expect(await endOf(session)).toBe("released");
    expect((await pool.ask(1)).status).toBe(204);
    await cordon(false);
    await pool.whenCounts({ acquired: 0, available: 3 });
  });

  test("that is uncordoned keeps its leased browser, which returns to the pool", async () => {
    pool = await fullPool(stack.call, 1);
    const session = await pool.acquire();
    const held = await podOf(session);
    await cordon(true);
    await whenMarked(held, "NodeLeaving");
    await cordon(false);
    await eventually("its leaving mark is gone", async () => (await recordOf(held))?.leaving === undefined);
    await pool.release(session);
    const next = await pool.acquire();
    expect((await podOf(next)).metadata.uid).toBe(held.metadata.uid);
  });

  test("marks its browsers again after Redis has lost the leaving marks", async () => {
    pool = await fullPool(stack.call, 1);
    const session = await pool.acquire();
    const held = await podOf(session);
    await cordon(true);
    await whenMarked(held, "NodeLeaving");
    await leases.store.drop(await leases.uidOf(pool.id));
    await whenMarked(held, "NodeLeaving");
    expect((await pool.release(session)) < 300).toBe(true);
    await eventually("its browser is gone", isGone(held));
  });
});

describe("an evicted browser in use", () => {
  // LEASE-49
  test("keeps serving its session over open and new connections; then it ends, and another one replaces it", async () => {
    pool = await fullPool(stack.call, 1);
    const session = await pool.acquire();
    const cdp = await openCdp(session);
    const held = await podOf(session);
    await evict(held);
    await whenMarked(held, "Evicted");
    expect(await cdp.version()).toContain("Chrome");
    const further = await openCdp(session);
    expect(await further.version()).toContain("Chrome");
    expect(await pool.counts()).toEqual({ acquired: 1, available: 0 });
    expect(await podsNow()).toHaveLength(1);

    await pool.release(session);
    await Promise.all([cdp.closed, further.closed]);
    await eventually("its pod is gone", isGone(held));
    expect(await endOf(session)).toBe("released");
    await pool.whenCounts({ acquired: 0, available: 1 });
    const next = await pool.acquire();
    expect((await podOf(next)).metadata.uid).not.toBe(held.metadata.uid);
  });

  test("ends at the latest after its grace period, and the session says why", async () => {
    // Fails by a wait that runs out: for the end of the socket, the pod or the session, or for the replacement.
    pool = await fullPool(stack.call, 1);
    const session = await pool.acquire();
    const cdp = await openCdp(session);
    const held = await podOf(session);
    await evict(held, 3);
    await cdp.closed;
    await eventually("its pod is gone", isGone(held));
    await eventually("the session has ended", async () => (await endOf(session)) === "pod_deleted");
    await pool.whenCounts({ acquired: 0, available: 1 });
  });

  test("is destroyed at once when its caller destroys it, or its pool is deleted by force", async () => {
    // Fails by a wait that runs out: for the end of a socket or of a pod.
    pool = await fullPool(stack.call, 2);
    const [one, other] = [await pool.acquire(), await pool.acquire()];
    const cdps = [await openCdp(one), await openCdp(other)];
    const held = [await podOf(one), await podOf(other)];
    for (const pod of held) {
      await evict(pod);
      await whenMarked(pod, "Evicted");
    }
    await pool.release(one, false);
    await cdps[0]?.closed;
    await stack.call("DELETE", `/browser_pools/${pool.id}`, { force: true });
    await cdps[1]?.closed;
    await Promise.all(held.map((pod) => eventually("its pod is gone", isGone(pod))));
  });
});

test("a long session is marked on its pod, so that a budget prevents its eviction, and the mark goes with the session", async () => {
  pool = await fullPool(stack.call, 1);
  const budgets: ResourceType<KubeObject> = {
    group: "policy",
    version: "v1",
    kind: "PodDisruptionBudget",
    plural: "poddisruptionbudgets",
    namespaced: true,
  };
  const selector = { matchLabels: { "browserpool.dev/leased": "true" } };
  const budget = { metadata: { namespace, name: "in-use" }, spec: { maxUnavailable: 0, selector } };
  await stack.kube.create(budgets, budget);
  const session = await pool.acquire();
  const { metadata } = await podOf(session);
  const shown = async (): Promise<(string | undefined)[]> => {
    const pod = await stack.kube.get(pods, metadata);
    const { labels, annotations } = pod?.metadata ?? {};
    return [labels?.["browserpool.dev/leased"], annotations?.["cluster-autoscaler.kubernetes.io/safe-to-evict"]];
  };
  expect(await shown()).toEqual([undefined, undefined]);
  await eventually("it is marked", async () => (await shown()).every((value) => value !== undefined));
  expect(await shown()).toEqual(["true", "false"]);
  await expect(evict({ metadata })).rejects.toThrow(/disruption budget/);

  await pool.release(session);
  await eventually("the mark is gone", async () => (await shown()).every((value) => value === undefined));
  await evict({ metadata });
  await eventually("its pod is gone", isGone({ metadata }));
  await stack.kube.delete(budgets, budget.metadata);
});

test("an evicted idle browser is replaced", async () => {
  // Fails by a wait that runs out: for the end of the pod, or for its replacement.
  pool = await fullPool(stack.call, 1);
  const [idle] = await podsNow();
  await evict(idle as Pod);
  await eventually("its pod is gone", isGone(idle as Pod));
  await pool.whenCounts({ acquired: 0, available: 1 });
});

test("kubectl drain waits for the session, and ends when the session has ended", async () => {
  pool = await fullPool(stack.call, 2);
  const session = await pool.acquire();
  const cdp = await openCdp(session);
  const held = await podOf(session);
  const drain = spawn(locatePrograms(process.env).kubectl ?? "kubectl", ["drain", node.name, "--timeout=60s"], {
    env: { PATH: process.env.PATH, KUBECONFIG: stack.kubeconfig, HOME: stack.dataDir },
    stdio: "ignore",
  });
  const drained = once(drain, "exit");
  await whenMarked(held, "Evicted");
  expect(await cdp.version()).toContain("Chrome");
  expect(drain.exitCode).toBeNull();
  await pool.release(session);
  expect((await drained)[0]).toBe(0);
  expect(await isGone(held)()).toBe(true);
});

test("the operator deletes pods of a deleted node without waiting for its kubelet", async () => {
  // Fails by a wait that runs out: for the end of the pod, or for its replacement.
  pool = await fullPool(stack.call, 1);
  await stack.kube.create(nodes, { metadata: { name: "ghost" } });
  await cordon(true);
  const waiting = await eventually("one waits for a node", async () =>
    (await podsNow()).find(({ spec }) => !spec?.nodeName),
  );
  const target = { apiVersion: "v1", kind: "Node", name: "ghost" };
  const { metadata } = waiting;
  const binding = { apiVersion: "v1", kind: "Binding", metadata: { name: metadata.name, uid: metadata.uid }, target };
  await stack.kube.createSubresource(pods, metadata, "binding", binding);
  await stack.kube.delete(nodes, { name: "ghost" });
  await eventually("it is gone", isGone(waiting));
  await cordon(false);
  await pool.whenCounts({ acquired: 0, available: 1 });
});
