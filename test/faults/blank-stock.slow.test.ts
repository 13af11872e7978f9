/** Blank browsers when their agents or the API die, Redis loses data, or many callers come at once. */
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pods } from "../../src/platform/kube/resource-type.ts";
import { type BlankPool, fullBlankPool } from "../support/blank-pool.ts";
import { type ApiReplica, type Cluster, startCluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { openCdp, type Session } from "../support/pool-client.ts";
import { withCdp } from "../support/raw-cdp.ts";

const stockSize = 3;

let cluster: Cluster;
let api: ApiReplica;
let stock: BlankPool;

beforeAll(async () => {
  cluster = await startCluster({ env: { BROWSERPOOL_PROJECT_ON_DEMAND_SESSIONS: "5" } });
  cluster.startOperator("operator-a");
  api = await cluster.startApi("api-a");
  stock = await fullBlankPool(cluster.kube, cluster.namespace, { size: stockSize });
});
afterAll(() => cluster?.[Symbol.asyncDispose]());

const create = async (body: object = {}, by = api): Promise<Session> => {
  const response = await by.call("POST", "/browsers", { headless: true, ...body });
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as Session;
};
const end = async ({ session_id }: Session): Promise<void> => {
  await (await api.call("DELETE", `/browsers/${session_id}`)).body?.cancel();
};
const isFromStock = async ({ session_id }: Session): Promise<boolean> =>
  !(await cluster.kube.list(pods, { namespace: cluster.namespace })).items.some(({ metadata }) =>
    metadata.name.startsWith(`${session_id}-`),
  );

/** The size of a new page, by the viewport that its browser was made with. */
const sizeIn = ({ cdp_ws_url }: Session): Promise<number[]> =>
  withCdp(cdp_ws_url, async (cdp) => {
    const { targetId } = await cdp.send<{ targetId: string }>("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await cdp.send<{ sessionId: string }>("Target.attachToTarget", { targetId, flatten: true });
    const expression = "[innerWidth, innerHeight]";
    const { result } = await cdp.send<{ result: { value: number[] } }>(
      "Runtime.evaluate",
      { expression, returnByValue: true },
      sessionId,
    );
    return result.value;
  });

/** The process of the agent of this pod; undefined when it has ended. */
const agentOf = async (pod: string): Promise<number | undefined> => {
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
    if (environment.split("\0").includes(`BROWSERPOOL_POD_NAME=${pod}`)) return Number(pid);
  }
  return undefined;
};

const blankPods = async (): Promise<string[]> =>
  (await cluster.kube.list(pods, { namespace: cluster.namespace })).items
    .map(({ metadata: { name } }) => name)
    .filter((name) => name.startsWith(`${stock.name}-`));

// POOL-32, LEASE-1
test("callers that come at once each have a browser of their own, with their own settings", async () => {
  const widths = [701, 702, 703, 704, 705];
  const sessions = await Promise.all(widths.map((width) => create({ viewport: { width, height: 600 } })));
  const fromStock = await Promise.all(sessions.map(isFromStock));
  expect(fromStock.filter(Boolean)).toHaveLength(stockSize);
  expect(await Promise.all(sessions.map(sizeIn))).toEqual(widths.map((width) => [width, 600]));
  await Promise.all(sessions.map(end));
  await stock.whenAvailable(stockSize);
});

// POOL-35, LIMIT-20
test("idle ones take no room of the project's limit, and those in use do", async () => {
  const sessions = await Promise.all(Array.from({ length: 5 }, () => create()));
  const sixth = await api.call("POST", "/browsers", { headless: true });
  expect(sixth.status).toBe(429);
  await sixth.body?.cancel();
  await end(sessions[0] as Session);
  const again = await eventually("there is room again", async () => {
    const answer = await api.call("POST", "/browsers", { headless: true });
    return answer.status === 200 && ((await answer.json()) as Session);
  });
  await Promise.all([...sessions.slice(1), again].map(end));
  await stock.whenAvailable(stockSize);
});

// POOL-32
test("an agent that has died blank costs its caller no more than another browser", async () => {
  const agents = (await Promise.all((await blankPods()).map(agentOf))).filter((pid) => pid !== undefined);
  expect(agents.length).toBeGreaterThan(0);
  for (const pid of agents) process.kill(pid, "SIGKILL");
  const session = await create({ viewport: { width: 711, height: 600 } });
  expect(await sizeIn(session)).toEqual([711, 600]);
  await end(session);
  await stock.whenAvailable(stockSize);
});

// LEASE-69
test("what a replica has given when it dies reaches no other caller", { timeout: 180_000 }, async () => {
  for (const afterMs of [20, 80, 200]) {
    const dying = await cluster.startApi(`api-dying-${afterMs}`);
    const cut = create({ viewport: { width: 722, height: 600 }, timeout_seconds: 10 }, dying).catch(() => "cut");
    await sleep(afterMs);
    dying.kill("SIGKILL");
    await cut;
    const session = await create();
    expect(await sizeIn(session)).toEqual([1920, 1080]);
    await end(session);
  }
  await eventually("what was left has ended by itself", async () => {
    const { status } = await stock.read();
    return status?.acquired === 0 && status.available === stockSize;
  });
});

// LEASE-50, POOL-33
test("after Redis has lost everything, the session is found again with its settings, and is its holder's", async () => {
  const session = await create({ name: "found", stealth: true, viewport: { width: 733, height: 600 } });
  expect(await isFromStock(session)).toBe(true);
  const cdp = await openCdp(session);
  const redis = new Redis(cluster.redisUrl);
  await redis.flushall();
  redis.disconnect();
  const found = await eventually("it is found again", async () => {
    const answer = await api.call("GET", "/browsers/found");
    return answer.status === 200 && ((await answer.json()) as object);
  });
  expect(found).toMatchObject({ session_id: session.session_id, stealth: true, viewport: { width: 733 } });
  expect(await cdp.version()).toContain("Chrome");
  const other = await create();
  expect(await sizeIn(other)).toEqual([1920, 1080]);
  await Promise.all([end(session), end(other)]);
  await cdp.closed;
  await stock.whenAvailable(stockSize);
});
