/** An api and an operator with exactly the rights of an installation: all that callers do works. */
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { stringify } from "yaml";
import { startApi } from "../../src/cmd/api.ts";
import { startOperator } from "../../src/cmd/operator.ts";
import { readConfig } from "../../src/core/config/config.ts";
import { type BrowserPool, browserPoolKind } from "../../src/core/model/pools/browser-pool.ts";
import { kubeForRequests } from "../../src/core/objects/kube-for-requests.ts";
import { proxyKind } from "../../src/features/proxies/proxy.ts";
import { telemetryDestinationKind } from "../../src/features/telemetry/destinations/telemetry-destination.ts";
import { createLogger } from "../../src/platform/base/log.ts";
import { connectKube, type Kube } from "../../src/platform/kube/client.ts";
import { KubeError } from "../../src/platform/kube/kube-error.ts";
import type { KubeObject } from "../../src/platform/kube/objects.ts";
import {
  clusterRoles,
  configMaps,
  events,
  leases,
  namespaces,
  pods,
  type ResourceType,
  secrets,
} from "../../src/platform/kube/resource-type.ts";
import { writeAccountKubeconfig } from "../support/account-kubeconfig.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { type Account, browserPods, installRights, projectObjects, systemNamespace } from "../support/cluster-roles.ts";
import { eventually } from "../support/eventually.ts";

const log = createLogger("silent", "test");

const budgets: ResourceType<KubeObject> = {
  ...{ group: "policy", version: "v1", kind: "PodDisruptionBudget", plural: "poddisruptionbudgets", namespaced: true },
};
const parts = new AsyncDisposableStack();

let cluster: Cluster;
let site: Server;
let startSecondOperator: () => Promise<unknown>;
let urls: { api: string; ops: string[] };

const kubeconfigOf = async (account: Account): Promise<string> => {
  const path = join(cluster.dataDir, `${account}.kubeconfig`);
  await writeAccountKubeconfig(path, { namespace: systemNamespace, name: account }, cluster.kubeconfigPath);
  return path;
};

beforeAll(async () => {
  cluster = parts.use(await startCluster());
  await installRights(cluster.kube);
  // As the chart has it with browsers.idleCpu, which the file leaves out.
  const projectRole = { name: "browserpool-project-operator" };
  const { rules = [] } = (await cluster.kube.get(clusterRoles, projectRole)) as { rules?: object[] };
  const resizing = { apiGroups: [""], resources: ["pods/resize"], verbs: ["patch"] };
  await cluster.kube.patch(clusterRoles, projectRole, { rules: [...rules, resizing] });
  const objectsFile = join(cluster.dataDir, "project-objects.yaml");
  await writeFile(
    objectsFile,
    projectObjects()
      .map((object) => stringify(object))
      .join("---\n"),
  );
  const browsers = browserPods();
  const templateFile = join(cluster.dataDir, "pod-template.yaml");
  const [agent] = browsers.template.spec.containers;
  const resources = { requests: { cpu: "20m" } };
  const spec = { ...browsers.template.spec, containers: [{ ...agent, resources }] };
  await writeFile(templateFile, stringify({ spec, idleCpu: "10m" }));
  const config = readConfig({
    REDIS_URL: cluster.redisUrl,
    BROWSERPOOL_PORT: "0",
    BROWSERPOOL_OPS_PORT: "0",
    BROWSERPOOL_SYSTEM_NAMESPACE: systemNamespace,
    BROWSERPOOL_DEFAULT_PROJECT: cluster.namespace.replace("test-", ""),
    BROWSERPOOL_FILL_RATE_CAP: "6000",
    BROWSERPOOL_BROWSER_FEATURES: "network,chrome_policy,memory_16GiB",
    BROWSERPOOL_STOP_GRACE_SECONDS: "0.1",
    BROWSERPOOL_PROJECT_OBJECTS_FILE: objectsFile,
    BROWSERPOOL_BROWSER_IMAGE: browsers.image,
    BROWSERPOOL_BROWSER_TEMPLATE_FILE: templateFile,
  });
  const kubeconfigPath = await kubeconfigOf("browserpool-operator");
  startSecondOperator = () => startOperator({ config: { ...config, systemNamespace: "second" }, kubeconfigPath }, log);
  const operator = await startOperator({ config, kubeconfigPath }, log);
  parts.defer(() => operator.stop());
  const api = await startApi({ config, kubeconfigPath: await kubeconfigOf("browserpool-api") }, log);
  parts.defer(() => api.stop());
  urls = { api: api.url, ops: [operator.opsUrl ?? "", api.opsUrl ?? ""] };
  site = createServer((_request, response) =>
    response.setHeader("content-type", "text/html").end("<title>shop</title><input id=user>"),
  );
  site.listen(0, "127.0.0.1");
  await once(site, "listening");
  parts.defer(() => void site.close().closeAllConnections());
});
afterAll(() => parts.disposeAsync());

// biome-ignore lint/suspicious/noExplicitAny: tests name the fields that they check
type Body = any;

/** A caller that repeats a request when the answer says so. Rejects when the answer is an error. */
const call = async (method: string, path: string, body?: unknown, project?: string): Promise<Body> => {
  for (;;) {
    const response = await fetch(urls.api + path, {
      method,
      headers: {
        authorization: `Bearer ${cluster.apiKey}`,
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(project && { "x-kernel-project-id": project }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.ok) return text === "" ? undefined : JSON.parse(text);
    if (response.status !== 503) throw new Error(`${method} ${path} was answered with ${response.status}: ${text}`);
    await sleep(100);
  }
};

/** Calls of both processes to the Kubernetes API: method and resource, by status. */
const kubeCalls = async (): Promise<Map<string, Set<string>>> => {
  const byStatus = new Map<string, Set<string>>();
  for (const url of urls.ops) {
    const text = await (await fetch(`${url}/metrics`)).text();
    const samples = text.matchAll(
      /^browserpool_kube_requests_total\{method="(\w+)",resource="([^"]+)",status="(\d+)"\}/gm,
    );
    for (const [, method, resource, status = ""] of samples)
      byStatus.set(status, (byStatus.get(status) ?? new Set()).add(`${url} ${method} ${resource}`));
  }
  return byStatus;
};

test("pools and their browsers can be created, used and deleted", async () => {
  const large = { URLBlocklist: Array.from({ length: 12_000 }, (_, n) => `https://${n}.blocked.example.com/path`) };
  const pool = await call("POST", "/browser_pools", {
    size: 1,
    headless: true,
    fill_rate_per_minute: 6000,
    chrome_policy: large,
  });
  await call("GET", `/browser_pools/${pool.id}/events`);
  await eventually(
    "the pool is full",
    async () => (await call("GET", `/browser_pools/${pool.id}`)).available_count === 1,
  );
  const path = `/browser_pools/${pool.id}`;
  const { session_id } = await call("POST", `${path}/acquire`, {});
  await eventually("its pod asks for more of the processor", async () => {
    const { items } = await cluster.kube.list(pods, { namespace: cluster.namespace });
    return items.some(({ spec }) => spec?.containers[0]?.resources?.requests?.cpu === "20m");
  });
  await call("POST", `${path}/release`, { session_id, reuse: false });
  await call("PATCH", path, { timeout_seconds: 900, chrome_policy: {} });
  await call("DELETE", path, { force: true });
  const gone = { namespace: cluster.namespace, name: pool.id };
  await eventually("the pool is gone", async () => (await cluster.kube.get(browserPoolKind, gone)) === undefined);
  expect((await cluster.kube.list(pods, { namespace: cluster.namespace })).items).toEqual([]);
  expect((await cluster.kube.list(configMaps, { namespace: cluster.namespace })).items).toEqual([]);
});

test("a project that HTTP created works at once, with a vault whose login fills a page", async () => {
  const { id: project } = await call("POST", "/org/projects", { name: "made" });
  await call("PATCH", "/org/limits", { default_project_max_concurrent_sessions: 5 });
  await call("POST", "/org/api_keys", { name: "another" });
  const place = { provider_type: "kubernetes", namespace: "team", token: "t" };
  const provider = `/org/credential_providers/${(await call("POST", "/org/credential_providers", { name: "t", ...place })).id}`;
  await call("PATCH", provider, { token: "another" });
  await call("DELETE", provider);
  await call("POST", "/credentials", { name: "login", domain: "shop.example", values: { username: "ann" } }, project);
  const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  const connection = await call(
    "POST",
    "/auth/connections",
    { domain: "shop.example", profile_name: "ann", credential: { name: "login" } },
    project,
  );
  await call("POST", `/auth/connections/${connection.id}/login`, {}, project);
  const vault = await call("POST", "/vaults", { name: "team" }, project);
  const spec = { provider: "managed_auth", connection_id: connection.id, allowed_origins: [origin] };
  await call("PUT", "/vaults/team/items/shop", { type: "credential", spec }, project);
  const browser = await call("POST", "/browsers", { headless: true, vaults: [{ id: vault.id }] }, project);
  const driver = await connect({ browserWSEndpoint: browser.cdp_ws_url });
  const [page] = await driver.pages();
  await page?.goto(origin);
  const fill = { type: "fill", browser_id: browser.session_id, fields: [{ field: "username", selector: "#user" }] };
  const filled = await call("POST", "/vaults/team/items/shop/operations", fill, project);
  expect(filled).toMatchObject({ status: "completed" });
  expect(await page?.$eval("#user", (field) => (field as unknown as { value: string }).value)).toBe("ann");
  await driver.disconnect();

  const config = { host: "proxy.example", port: 3128, password: "p" };
  const proxy = await call("POST", "/proxies", { type: "custom", config }, project);
  await call("PATCH", `/proxies/${proxy.id}`, { name: "office" }, project);
  await eventually("the operator has seen the proxy", async () => {
    const found = await cluster.kube.get(proxyKind, { namespace: project, name: proxy.id });
    return found?.status?.conditions.some(({ type, status }) => type === "Accepted" && status === "True");
  });
  await call("DELETE", `/proxies/${proxy.id}`, undefined, project);

  const receiver = { name: "backend", endpoint: "https://otlp.example", headers: { "x-key": "k" } };
  const destination = await call("POST", "/telemetry/destinations", receiver, project);
  await call("PATCH", "/telemetry/destinations/backend", { headers: { "x-key": "l", "x-more": "m" } }, project);
  await eventually("the operator has seen the destination", async () => {
    const found = await cluster.kube.get(telemetryDestinationKind, { namespace: project, name: destination.id });
    return found?.status?.conditions.some(({ type, status }) => type === "Accepted" && status === "True");
  });
  await call("DELETE", "/telemetry/destinations/backend", undefined, project);

  await call("DELETE", `/browsers/${browser.session_id}`, undefined, project);
  await call("PATCH", "/credentials/login", { values: { username: "bob" } }, project);
  await call("DELETE", "/vaults/team", undefined, project);
  await call("DELETE", `/auth/connections/${connection.id}`, undefined, project);
  await call("DELETE", "/credentials/login", undefined, project);
  await eventually("its Secrets are gone", async () => {
    const { items } = await cluster.kube.list(secrets, { namespace: project });
    return items.length === 0;
  });
});

// PROJECT-11
test("where others have pods, a pool says what it waits for, and starts when the namespace is labelled", async () => {
  const { kube } = cluster;
  const namespace = `shop-${cluster.namespace}`;
  await kube.create(namespaces, { metadata: { name: namespace } });
  const shop = { metadata: { namespace, name: "shop" }, spec: { containers: [{ name: "c", image: "x.invalid/x" }] } };
  await kube.create(pods, { ...shop, spec: { ...shop.spec, nodeName: "elsewhere" } });
  const spec = { size: 1, headless: true, fillRatePerMinute: 6000 };
  await kube.create(browserPoolKind, { metadata: { namespace, name: "demo" }, spec } as BrowserPool);
  const label = (labels: object) => kube.patch(namespaces, { name: namespace }, { metadata: { labels } });
  await label({ "browserpool.dev/project": "shop" });
  const message = await eventually("the pool says what it waits for", async () => {
    const pool = await kube.get(browserPoolKind, { namespace, name: "demo" });
    const progressing = pool?.status?.conditions.find(({ type }) => type === "Progressing");
    return progressing?.reason === "WaitingForProject" && /other pods/.test(progressing.message) && progressing.message;
  });
  expect(message).toContain(`label this one browserpool.dev/adopt=true`);
  await eventually("people are told", async () => {
    const { items } = await kube.list(events, { namespace });
    return items.some(({ reason, regarding }) => reason === "ProjectNotAdopted" && regarding?.kind === "Namespace");
  });
  expect((await kube.list(budgets, { namespace })).items).toEqual([]);
  expect((await kube.list(pods, { namespace })).items.map(({ metadata }) => metadata.name)).toEqual(["shop"]);

  await label({ "browserpool.dev/adopt": "true" });
  await eventually("the pool is full", async () => {
    const pool = await kube.get(browserPoolKind, { namespace, name: "demo" });
    return pool?.status?.available === 1;
  });
  expect((await kube.list(budgets, { namespace })).items).toHaveLength(1);
  await kube.delete(browserPoolKind, { namespace, name: "demo" });
  await eventually(
    "it is gone",
    async () => (await kube.get(browserPoolKind, { namespace, name: "demo" })) === undefined,
  );
});

test("the operator of a second installation does not start, and says where the first one is", async () => {
  await expect(startSecondOperator()).rejects.toThrow(`already, in namespace ${systemNamespace}`);
});

test("no call of these tests stayed refused", async () => {
  const calls = await kubeCalls();
  const done = new Set([...(calls.get("200") ?? []), ...(calls.get("201") ?? [])]);
  const names = new Set([...done].map((name) => name.replace(/^\S+ /, "")));
  for (const name of [
    "POST pods",
    "PATCH pods/resize",
    "POST configmaps",
    "DELETE configmaps",
    "DELETE secrets",
    "POST events",
    "GET events",
    "WATCH secrets",
  ])
    expect(names).toContain(name);
  // In a new project a call can come before the rights; then it is repeated.
  for (const refused of calls.get("403") ?? []) expect(done).toContain(refused);
});

test.each<[string, Account, (kube: Kube) => Promise<unknown>]>([
  ["the api reads no pods", "browserpool-api", (kube) => kube.list(pods, { namespace: cluster.namespace })],
  ["the api makes no leases", "browserpool-api", (kube) => kube.get(leases, { namespace: systemNamespace, name: "x" })],
  [
    "the api lists no Secrets of a project",
    "browserpool-api",
    (kube) => kube.list(secrets, { namespace: cluster.namespace }),
  ],
  [
    "the api reads no Events outside of projects",
    "browserpool-api",
    (kube) => kube.list(events, { namespace: systemNamespace }),
  ],
  [
    "the operator reads no Secrets of a project",
    "browserpool-operator",
    (kube) => kube.get(secrets, { namespace: cluster.namespace, name: "x" }),
  ],
  [
    "the operator reads no API keys",
    "browserpool-operator",
    (kube) => kube.list(secrets, { namespace: systemNamespace }),
  ],
  [
    "the operator makes no namespaces",
    "browserpool-operator",
    (kube) => kube.create(namespaces, { metadata: { name: "x" } }),
  ],
])("%s", async (_, account, attempt) => {
  const kube = connectKube({ kubeconfigPath: await kubeconfigOf(account) });
  const error = await attempt(kube).catch((caught: unknown) => caught);
  await kube.close();
  expect(error).toBeInstanceOf(KubeError);
  expect((error as KubeError).reason).toBe("Forbidden");
});

test("a call without a right is answered as unavailable, with a time to repeat it", async () => {
  const kube = connectKube({ kubeconfigPath: await kubeconfigOf("browserpool-api") });
  const requests = kubeForRequests(kube);
  const missing = { namespace: "kube-system", name: "x" };
  const attempts = [requests.get(secrets, missing), requests.create(secrets, { metadata: missing })];
  for (const attempt of await Promise.allSettled(attempts))
    expect(attempt).toMatchObject({ reason: { code: "unavailable", retryAfterSeconds: 1 } });
  await kube.close();
});
