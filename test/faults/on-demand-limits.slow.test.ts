/** The operator's limits of on-demand browsers and pools that YAML makes, on simulated browsers. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Browser, browserKind } from "../../src/core/model/browsers/browser.ts";
import { type BrowserPool, browserPoolKind } from "../../src/core/model/pools/browser-pool.ts";
import { newId } from "../../src/core/objects/new-id.ts";
import { namespaces, pods } from "../../src/platform/kube/resource-type.ts";
import { testNamespace } from "../support/control-plane.ts";
import { eventually } from "../support/eventually.ts";
import { type SimulatedCluster, startSimulatedCluster } from "../support/simulated-node/simulated-cluster.ts";

let cluster: SimulatedCluster;
beforeAll(async () => {
  cluster = await startSimulatedCluster({
    env: { BROWSERPOOL_PROJECT_ON_DEMAND_SESSIONS: "2", BROWSERPOOL_ON_DEMAND_SESSIONS: "3" },
  });
  await cluster.startOperator("operator").logged("leading");
});
afterAll(() => cluster?.[Symbol.asyncDispose]());

const apply = (namespace: string, name = `b-${newId()}`): Promise<Browser> =>
  cluster.kube.create(browserKind, { metadata: { name, namespace }, spec: { headless: true } } as Browser);
const all = async (namespace: string): Promise<Browser[]> =>
  (await cluster.kube.list(browserKind, { namespace })).items;
const accepted = ({ status }: Browser | BrowserPool) => status?.conditions.find(({ type }) => type === "Accepted");
const active = async (namespace: string): Promise<Browser[]> =>
  (await all(namespace)).filter(({ status }) => status?.phase === "Active");
const refused = async (namespace: string): Promise<Browser[]> =>
  (await all(namespace)).filter((browser) => accepted(browser)?.status === "False");
const podCount = async (namespace: string): Promise<number> =>
  (await cluster.kube.list(pods, { namespace })).items.length;
const empty = async (namespace: string): Promise<void> => {
  for (const { metadata } of await all(namespace)) await cluster.kube.delete(browserKind, metadata);
  await eventually("no browser is left", async () => (await all(namespace)).length === 0);
};

// LIMIT-20
test("browsers above the limit of their project are refused and start nothing, until one ends", async () => {
  const { name: namespace } = await testNamespace(cluster.kube);
  await Promise.all(Array.from({ length: 6 }, () => apply(namespace)));
  await eventually("two run and four are refused", async () => {
    const [running, waiting] = [await active(namespace), await refused(namespace)];
    return running.length === 2 && waiting.length === 4;
  });
  expect(await podCount(namespace)).toBe(2);
  expect(accepted((await refused(namespace))[0] as Browser)).toMatchObject({
    reason: "SessionsLimit",
    message: expect.stringContaining("may run 2 on-demand browsers"),
  });
  const [first] = await active(namespace);
  await cluster.kube.delete(browserKind, { namespace, name: first?.metadata.name ?? "" });
  await eventually("another one has its place", async () => {
    const [running, waiting] = [await active(namespace), await refused(namespace)];
    return running.length === 2 && waiting.length === 3;
  });
  await empty(namespace);
});

// LIMIT-20
test("the organization's limit holds over all projects, and a cap of a project replaces the default of projects", async () => {
  const [a, b] = [await testNamespace(cluster.kube), await testNamespace(cluster.kube)];
  const annotations = { "browserpool.dev/max-concurrent-sessions": "1" };
  await cluster.kube.patch(namespaces, { name: b.name }, { metadata: { annotations } });
  await Promise.all([apply(a.name), apply(a.name)]);
  await eventually("two of the first project run", async () => (await active(a.name)).length === 2);
  await Promise.all([apply(b.name), apply(b.name)]);
  await eventually(
    "one of the second project runs, one is refused",
    async () => (await active(b.name)).length === 1 && (await refused(b.name)).length === 1,
  );
  const third = await testNamespace(cluster.kube);
  await apply(third.name);
  await eventually("the organization has no room", async () => (await refused(third.name)).length === 1);
  for (const { name } of [a, b, third]) await empty(name);
});

// LIMIT-10
test("a pool that YAML makes above its project's cap is refused and starts nothing", async () => {
  const { name: namespace } = await testNamespace(cluster.kube);
  const annotations = { "browserpool.dev/max-concurrent-sessions": "3" };
  await cluster.kube.patch(namespaces, { name: namespace }, { metadata: { annotations } });
  await apply(namespace);
  await eventually("the browser runs", async () => (await active(namespace)).length === 1);
  const pool = { metadata: { name: "pool", namespace }, spec: { size: 3, headless: true } } as BrowserPool;
  await cluster.kube.create(browserPoolKind, pool);
  const condition = await eventually("the pool is refused", async () => {
    const found = await cluster.kube.get(browserPoolKind, { namespace, name: "pool" });
    return found && accepted(found)?.status === "False" && accepted(found);
  });
  expect(condition).toMatchObject({
    reason: "SessionsLimit",
    message: expect.stringContaining("1 on-demand browsers"),
  });
  expect(await podCount(namespace)).toBe(1);
  await empty(namespace);
});

// LIMIT-23
test("of ended browsers a project keeps the last 200", async () => {
  const { name: namespace } = await testNamespace(cluster.kube);
  const end = async (second: number): Promise<void> => {
    const browser = await apply(namespace, `ended-${second}`);
    const endTime = new Date(Date.now() - 3_600_000 + second * 1000).toISOString();
    const status = { phase: "Ended", endReason: "deleted", endTime, conditions: [], pod: "gone", leaseEpoch: 1 };
    await cluster.kube.patch(browserKind, browser.metadata, { status }, { subresource: "status" });
  };
  const annotations = { "browserpool.dev/max-concurrent-sessions": "1" };
  await cluster.kube.patch(namespaces, { name: namespace }, { metadata: { annotations } });
  for (let second = 0; second < 205; second += 5) await Promise.all([0, 1, 2, 3, 4].map((more) => end(second + more)));
  await eventually("200 are left", async () => (await all(namespace)).length <= 200, 60_000);
  const left = new Set((await all(namespace)).map(({ metadata }) => metadata.name));
  expect([left.has("ended-204"), left.has("ended-0")]).toEqual([true, false]);
}, 120_000);
