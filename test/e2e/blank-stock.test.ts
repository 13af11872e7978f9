/** On-demand browsers from blank ones: pods that wait for their settings. */
import type Kernel from "@onkernel/sdk";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type BrowserPoolSpec, browserPoolKind } from "../../src/core/model/pools/browser-pool.ts";
import { newId } from "../../src/core/objects/new-id.ts";
import { pods } from "../../src/platform/kube/resource-type.ts";
import { type BlankPool, fullBlankPool, newBlankPool } from "../support/blank-pool.ts";
import { eventually } from "../support/eventually.ts";
import { withCdp } from "../support/raw-cdp.ts";
import { type Stack, startStack } from "../support/stack.ts";

let stack: Stack;
let kernel: Kernel;
beforeAll(async () => {
  stack = await startStack();
  kernel = stack.kernel;
});
afterAll(() => stack?.[Symbol.asyncDispose]());
const made: string[] = [];
afterEach(async () => {
  for (const name of made.splice(0)) {
    await stack.kube.delete(browserPoolKind, { namespace: stack.namespace, name });
    await eventually("the pool is gone", async () => (await podsOf(name)).length === 0);
  }
});

const podsOf = async (name: string): Promise<string[]> =>
  (await stack.kube.list(pods, { namespace: stack.namespace })).items
    .map(({ metadata }) => metadata)
    .filter((pod) => pod.name.startsWith(`${name}-`))
    .map(({ uid }) => uid)
    .sort();

const stockOf = async (spec: Partial<BrowserPoolSpec> = {}): Promise<BlankPool> => {
  const pool = await newBlankPool(stack.kube, stack.namespace, spec);
  made.push(pool.name);
  return pool;
};

const fullStock = async (spec: Partial<BrowserPoolSpec> = {}): Promise<BlankPool> => {
  const pool = await fullBlankPool(stack.kube, stack.namespace, spec);
  made.push(pool.name);
  return pool;
};

/** Whether this session has a pod of its own. */
const isStarted = async (sessionId: string): Promise<boolean> => (await podsOf(sessionId)).length > 0;

// POOL-32, POOL-33
test("an on-demand browser of any settings comes from a blank one, and is destroyed and replaced at its end", async () => {
  const stock = await fullStock();
  const before = await podsOf(stock.name);
  const name = `n-${newId()}`;
  const session = await kernel.browsers.create({
    headless: true,
    name,
    stealth: true,
    viewport: { width: 801, height: 603 },
    tags: { team: "a" },
    timeout_seconds: 90,
    chrome_policy: { HomepageLocation: "https://example.com" },
    start_url: "data:text/html,<title>first</title>",
  });
  expect(session).toMatchObject({
    ...{ name, headless: true, stealth: true, timeout_seconds: 90, vaults: [] },
    ...{ tags: { team: "a" }, viewport: { width: 801, height: 603 } },
    chrome_policy: { HomepageLocation: "https://example.com" },
  });
  expect(session).not.toHaveProperty("pool");
  expect(await isStarted(session.session_id)).toBe(false);
  await withCdp(session.cdp_ws_url, (cdp) =>
    eventually("its first page", async () => {
      const { targetInfos } = await cdp.send<{ targetInfos: { title: string }[] }>("Target.getTargets");
      return targetInfos.some(({ title }) => title === "first");
    }),
  );
  expect(await kernel.browsers.retrieve(name)).toMatchObject({ session_id: session.session_id, stealth: true });
  await kernel.browsers.deleteByID(name);
  // The status may not have counted the session yet, nor its end.
  await eventually("its pod is replaced", async () => {
    const after = await podsOf(stock.name);
    return after.length === 2 && after.filter((uid) => before.includes(uid)).length === 1;
  });
  await stock.whenAvailable(2);
  const ended = await kernel.browsers.retrieve(session.session_id, { include_deleted: true });
  expect(ended).toMatchObject({ name, stealth: true, viewport: { width: 801, height: 603 } });
});

// POOL-32
test("another pod than that of the stock, and a saved profile, are started; so is what the stock has none for", async () => {
  await fullStock({ size: 1 });
  const profile = `p-${newId()}`;
  await kernel.profiles.create({ name: profile });
  const saving = await kernel.browsers.create({ headless: true, profile: { name: profile, save_changes: true } });
  const headful = await kernel.browsers.create({ headless: false });
  const first = await kernel.browsers.create({ headless: true, kiosk_mode: false });
  const second = await kernel.browsers.create({ headless: true });
  const started = [saving, headful, first, second].map(({ session_id }) => isStarted(session_id));
  expect(await Promise.all(started)).toEqual([true, true, false, true]);
  for (const { session_id } of [saving, headful, first, second]) await kernel.browsers.deleteByID(session_id);
});

// POOL-33
test("a browser from the stock changes as any other, and its settings come back with them", async () => {
  await fullStock({ size: 1 });
  const { session_id } = await kernel.browsers.create({ headless: true, stealth: true });
  const changed = await kernel.browsers.update(session_id, { viewport: { width: 901, height: 602 }, tags: { a: "b" } });
  expect(changed).toMatchObject({ stealth: true, viewport: { width: 901, height: 602 }, tags: { a: "b" } });
  expect(await kernel.browsers.retrieve(session_id)).toMatchObject({ stealth: true, viewport: { width: 901 } });
  await kernel.browsers.deleteByID(session_id);
});

describe("callers", () => {
  // POOL-34
  test("see no stock, and can't acquire, change or delete it", async () => {
    const { name } = await fullStock({ size: 1 });
    const { items } = await kernel.browserPools.list();
    expect(items.map(({ id }) => id)).not.toContain(name);
    const calls = [
      () => kernel.browserPools.retrieve(name),
      () => kernel.browserPools.acquire(name, { acquire_timeout_seconds: 1 }),
      () => kernel.browserPools.update(name, { size: 9 }),
      () => kernel.browserPools.flush(name),
      () => kernel.browserPools.delete(name, { force: true }),
      () => kernel.browserPools.release(name, { session_id: newId() }),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject({ status: 404 });
    const own = { size: 1, headless: true, blank: true } as Parameters<typeof kernel.browserPools.create>[0];
    const { id, browser_pool_config } = await kernel.browserPools.create(own);
    expect(browser_pool_config).not.toHaveProperty("blank");
    await kernel.browserPools.delete(id, { force: true });
  });

  // POOL-34
  test("of another project get none of it", async () => {
    const stock = await fullStock({ size: 1 });
    const call = async (method: string, path: string, body: object | undefined, project: string): Promise<unknown> => {
      const headers = {
        authorization: `Bearer ${stack.organization_key}`,
        "content-type": "application/json",
        "x-kernel-project-id": project,
      };
      const answer = await fetch(`${stack.url}${path}`, {
        method,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${answer.status} ${text}`);
      return text === "" ? undefined : JSON.parse(text);
    };
    const { id } = (await call("POST", "/org/projects", { name: `other ${newId()}` }, "")) as { id: string };
    const { session_id } = (await call("POST", "/browsers", { headless: true }, id)) as { session_id: string };
    expect((await stock.read()).status).toMatchObject({ available: 1, acquired: 0 });
    await call("DELETE", `/browsers/${session_id}`, undefined, id);
  });
});

describe("the operator", () => {
  const refusal = async (pool: BlankPool) =>
    eventually("it is judged", async () =>
      (await pool.read()).status?.conditions.find(({ type }) => type === "Accepted"),
    );

  // POOL-35
  test.each<[string, Partial<BrowserPoolSpec>, string]>([
    ["stealth", { stealth: true }, "spec.stealth"],
    ["a policy", { chromePolicy: { HomepageLocation: "https://example.com" } }, "spec.chromePolicy"],
    ["serve_on_demand", { serveOnDemand: true }, "spec.serveOnDemand"],
    ["a start URL", { startUrl: "about:blank" }, "spec.startUrl"],
  ])("refuses stock with %s", async (_, spec, field) => {
    expect(await refusal(await stockOf(spec))).toMatchObject({
      ...{ status: "False", reason: "InvalidSpec" },
      message: expect.stringContaining(field),
    });
  });

  // POOL-35
  test("refuses more blank browsers than a project may have", async () => {
    expect(await refusal(await stockOf({ size: 11 }))).toMatchObject({
      ...{ status: "False", reason: "PooledSessionsLimit" },
      message: expect.stringContaining("the 10 blank browsers"),
    });
  });

  // POOL-35
  test("has the kind of a pool fixed", async () => {
    const { name } = await stockOf({ size: 1 });
    const change = stack.kube.patch(browserPoolKind, { namespace: stack.namespace, name }, { spec: { blank: false } });
    await expect(change).rejects.toThrow(/blank is fixed/);
  });
});
