/** On-demand browsers when Redis loses data, the waiting replica dies, or Chromium does not start or crashes. */
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Browser, browserKind } from "../../src/core/model/browsers/browser.ts";
import { pods } from "../../src/platform/kube/resource-type.ts";
import { type ApiReplica, type Cluster, startCluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { startLocalStack } from "../support/local-stack.ts";
import { openCdp, type Session } from "../support/pool-client.ts";
import { withCdp } from "../support/raw-cdp.ts";

let cluster: Cluster;
let api: ApiReplica;

beforeAll(async () => {
  cluster = await startCluster();
  cluster.startOperator("operator-a");
  api = await cluster.startApi("api-a");
});
afterAll(() => cluster?.[Symbol.asyncDispose]());

const create = async (body: object = {}): Promise<Session> => {
  const response = await api.call("POST", "/browsers", { headless: true, ...body });
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as Session;
};
const statusOf = async ({ session_id }: Session): Promise<number> => {
  const response = await api.call("GET", `/browsers/${session_id}`);
  await response.body?.cancel();
  return response.status;
};
const browsers = async (): Promise<Browser[]> =>
  (await cluster.kube.list(browserKind, { namespace: cluster.namespace })).items as Browser[];
const phaseOf = async (name: string): Promise<Browser["status"]> =>
  (await browsers()).find(({ metadata }) => metadata.name === name)?.status;

test("after Redis has lost everything, the session is found again, its connection was never cut, and it can be ended", async () => {
  const session = await create({ name: "kept", tags: { a: "b" } });
  const cdp = await openCdp(session);
  const redis = new Redis(cluster.redisUrl);
  await redis.flushall();
  redis.disconnect();
  await eventually("it is found again", async () => (await statusOf(session)) === 200);
  expect(await (await api.call("GET", "/browsers/kept")).json()).toMatchObject({
    session_id: session.session_id,
    tags: { a: "b" },
  });
  expect(await cdp.version()).toContain("Chrome");
  expect((await api.call("DELETE", "/browsers/kept")).status).toBe(204);
  await cdp.closed;
  await eventually("it has ended", async () => (await phaseOf(session.session_id))?.phase === "Ended");
  expect(await statusOf(session)).toBe(404);
});

test("when the replica that waits for a browser dies, the session begins all the same, and its timeout ends it", async () => {
  const known = new Set((await browsers()).map(({ metadata }) => metadata.name));
  const asked = api.call("POST", "/browsers", { headless: true, timeout_seconds: 10 }).catch(() => "cut");
  const [orphan] = await eventually("it has begun", async () => {
    const fresh = (await browsers()).filter(({ metadata }) => !known.has(metadata.name));
    return fresh.length > 0 && fresh;
  });
  api.kill("SIGKILL");
  expect(await asked).toBe("cut");
  api = await cluster.startApi("api-b");
  const name = orphan?.metadata.name ?? "";
  await eventually("it is active", async () => (await phaseOf(name))?.phase === "Active");
  const ended = await eventually("it has ended", async () => {
    const status = await phaseOf(name);
    return status?.phase === "Ended" && status;
  });
  expect(ended.endReason).toBe("timeout");
});

// BROWSER-8, LEASE-34
test("when Chromium crashes, the session ends with the reason, and no browser replaces it", async () => {
  const session = await create();
  await withCdp(session.cdp_ws_url, (cdp) => cdp.send("Browser.crash")).catch(() => undefined);
  const status = await eventually("it has ended", async () => {
    const seen = await phaseOf(session.session_id);
    return seen?.phase === "Ended" && seen;
  });
  expect(status.endReason).toBe("browser_crashed");
  await eventually("no pod is left", async () => {
    const { items } = await cluster.kube.list(pods, { namespace: cluster.namespace });
    return items.every(({ metadata }) => !metadata.name.startsWith(session.session_id));
  });
});

// BROWSER-9, BROWSER-18
test("when Chromium does not start, the caller is told why, and the status of the object says it too", async () => {
  await using broken = await startLocalStack({ env: { BROWSERPOOL_CHROMIUM_HEADLESS: "/bin/false" } });
  const response = await broken.call("POST", "/browsers", { headless: true });
  expect([response.status, await response.json()]).toEqual([
    503,
    {
      code: "browser_not_started",
      message: expect.stringContaining("the browser did not start: Chromium ended with code 1"),
    },
  ]);
  await eventually(
    "nothing is left of it",
    async () => (await broken.kube.list(browserKind, { namespace: "default" })).items.length === 0,
  );
  const name = "by-yaml";
  await broken.kube.create(browserKind, {
    metadata: { name, namespace: "default" },
    spec: { headless: true },
  } as Browser);
  const { status } = await eventually("it has failed", async () => {
    const browser = (await broken.kube.get(browserKind, { namespace: "default", name })) as Browser | undefined;
    return browser?.status?.phase === "Failed" && browser;
  });
  expect(status?.message).toContain("did not start");
  const found = await broken.call("GET", `/browsers/${name}`);
  expect([found.status, await found.text()]).toEqual([404, expect.stringContaining("did not start")]);
});
