/**
 * Pods that imitate a pool's browsers, each with a real agent in it: they never count, get no caller, and are left
 * alone.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { browserKind } from "../../src/core/model/browsers/browser.ts";
import { browserPoolKind } from "../../src/core/model/pools/browser-pool.ts";
import type { KubeEvent, NewObject, OwnerReference, Pod } from "../../src/platform/kube/objects.ts";
import { events, namespaces, pods } from "../../src/platform/kube/resource-type.ts";
import type { ApiReplica } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { viewLeases } from "../support/lease-view.ts";
import { fullPool } from "../support/pool-client.ts";
import { type SimulatedCluster, startSimulatedCluster } from "../support/simulated-node/simulated-cluster.ts";

const otherNamespace = `other-${randomUUID().slice(0, 8)}`;

let cluster: SimulatedCluster;
let api: ApiReplica;

beforeAll(async () => {
  cluster = await startSimulatedCluster();
  cluster.startOperator("operator-a");
  api = await cluster.startApi("api-a");
  await cluster.kube.create(namespaces, { metadata: { name: otherNamespace } });
});
afterAll(() => cluster?.[Symbol.asyncDispose]());

/** Of whoever made the foreign pods; the Secrets of browsers are out of reach in another namespace. */
const ownKey = randomBytes(32).toString("base64url");

type Change = { namespace?: string; ownerReferences?: Partial<OwnerReference>[] };

/** Copies a browser's pod, with its labels and its agent's settings, but for what makes it the owner's own. */
const imitate = async (pod: Pod, name: string, { namespace, ownerReferences }: Change): Promise<Pod> => {
  const [reference] = pod.metadata.ownerReferences ?? [];
  const { nodeName: _, ...spec } = structuredClone(pod.spec ?? { containers: [] });
  for (const variable of spec.containers[0]?.env ?? [])
    if (variable.name === "BROWSERPOOL_AGENT_KEY") Object.assign(variable, { value: ownKey, valueFrom: undefined });
  const copy: NewObject<Pod> = {
    metadata: {
      name,
      namespace: namespace ?? pod.metadata.namespace,
      labels: pod.metadata.labels ?? {},
      annotations: pod.metadata.annotations ?? {},
      ownerReferences: (ownerReferences ?? []).map((change) => ({ ...(reference as OwnerReference), ...change })),
    },
    spec,
  };
  return cluster.kube.create(pods, copy);
};

const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false;

const untilReady = (pod: Pod): Promise<Pod> =>
  eventually(`${pod.metadata.name} is ready`, async () => {
    const now = await cluster.kube.get(pods, pod.metadata);
    return now && isReady(now) && now;
  });

const warnings = async (regarding: string): Promise<KubeEvent[]> => {
  const { items } = await cluster.kube.list(events, { namespace: cluster.namespace });
  return items.filter((event) => event.reason === "ForeignPod" && event.regarding?.name === regarding);
};

const podsIn = async (namespace: string): Promise<Pod[]> => (await cluster.kube.list(pods, { namespace })).items;

const cases: [string, Change][] = [
  ["no-owner", {}],
  ["wrong-uid", { ownerReferences: [{ uid: randomUUID() }] }],
  ["not-controller", { ownerReferences: [{ controller: false }] }],
  ["other-namespace", { namespace: otherNamespace, ownerReferences: [{}] }],
];

// POD-1
test("pods that carry a pool's label but are not its own change no count, get no caller, and stay when the pool goes", async () => {
  const pool = await fullPool(api.call, 2);
  const leases = await viewLeases(cluster.redisUrl, cluster.kube, cluster.namespace);
  const uid = await leases.uidOf(pool.id);
  const own = await podsIn(cluster.namespace);
  const foreign = await Promise.all(cases.map(([name, change]) => imitate(own[0] as Pod, name, change)));
  await Promise.all(foreign.map(untilReady));
  await eventually("each is told about once", async () => (await warnings(pool.id)).length === foreign.length);

  // Its place is filled again and no more: a foreign pod that counted would leave no room.
  const session = await pool.acquire();
  expect(await pool.release(session, false)).toBe(204);
  await pool.whenCounts({ acquired: 0, available: 2 });
  const sessions = [await pool.acquire(), await pool.acquire()];
  expect((await pool.ask(1)).status).toBe(204);
  const { browsers } = await leases.store.snapshot(uid);
  const foreignUids = foreign.map(({ metadata }) => metadata.uid);
  expect(browsers.filter(({ id }) => foreignUids.includes(id))).toEqual([]);
  const object = { namespace: cluster.namespace, name: pool.id };
  expect((await cluster.kube.get(browserPoolKind, object))?.status).toMatchObject({ replicas: 2, starting: 0 });

  const told = await warnings(pool.id);
  for (const { metadata } of foreign) {
    const notes = told.filter(({ note }) => note?.includes(`${metadata.namespace}/${metadata.name} `));
    expect(notes).toHaveLength(1);
    expect(notes[0]).toMatchObject({
      type: "Warning",
      note: expect.stringContaining("Delete it, or remove its label"),
    });
    expect(notes[0]?.series).toBeUndefined();
  }

  for (const one of sessions) await pool.release(one);
  expect((await api.call("DELETE", `/browser_pools/${pool.id}`, { force: true })).status).toBe(204);
  await eventually("the pool is gone", async () => (await cluster.kube.get(browserPoolKind, object)) === undefined);
  for (const { metadata } of foreign) {
    const left = await cluster.kube.get(pods, metadata);
    expect(left?.metadata).toMatchObject({ uid: metadata.uid });
    expect(left?.metadata.deletionTimestamp).toBeUndefined();
  }
  for (const { metadata } of foreign) await cluster.kube.delete(pods, metadata, { gracePeriodSeconds: 0 });
  leases.close();
});

// POD-1
test("a pod that imitates an on-demand browser is not its session's, and does not keep it from ending", async () => {
  const answer = (await (await api.call("POST", "/browsers", { headless: true })).json()) as { session_id: string };
  const object = { namespace: cluster.namespace, name: answer.session_id };
  const own = (await podsIn(cluster.namespace)).find(({ metadata }) => metadata.name.startsWith(answer.session_id));
  const foreign = await imitate(own as Pod, "imitates-browser", { ownerReferences: [{ controller: false }] });
  await untilReady(foreign);
  await eventually("it is told about", async () => (await warnings(answer.session_id)).length === 1);

  expect((await api.call("DELETE", `/browsers/${answer.session_id}`)).status).toBe(204);
  await eventually("its own pod is gone", async () => (await podsIn(cluster.namespace)).length === 1);
  await eventually(
    "it has ended",
    async () => (await cluster.kube.get(browserKind, object))?.status?.phase !== "Active",
  );
  expect(await cluster.kube.get(pods, foreign.metadata)).toMatchObject({ metadata: { uid: foreign.metadata.uid } });
});
