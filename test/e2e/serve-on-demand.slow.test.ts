/** On-demand browsers from the stock of pools that serve them. */
import type Kernel from "@onkernel/sdk";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { newId } from "../../src/core/objects/new-id.ts";
import { pods } from "../../src/platform/kube/resource-type.ts";
import { eventually } from "../support/eventually.ts";
import { filledPool, type PoolParams, untilAvailable } from "../support/filled-pool.ts";
import { openCdp } from "../support/pool-client.ts";
import { setCookie, withCdp } from "../support/raw-cdp.ts";
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
  for (const id of made.splice(0)) await kernel.browserPools.delete(id, { force: true });
});

const servingPool = async (more: PoolParams = {}): Promise<string> => {
  const { id } = await filledPool(kernel, { size: 2, serve_on_demand: true, ...more });
  made.push(id);
  return id;
};
const podsOf = async (id: string): Promise<string[]> =>
  (await stack.kube.list(pods, { namespace: stack.namespace })).items
    .map(({ metadata }) => metadata)
    .filter(({ name }) => name.startsWith(`${id}-`))
    .map(({ uid }) => uid)
    .sort();
const acquired = async (id: string): Promise<number> => (await kernel.browserPools.retrieve(id)).acquired_count;
/** Whether this session has a browser that was started for it. */
const isStarted = async (sessionId: string): Promise<boolean> => (await podsOf(sessionId)).length > 0;

// POOL-22
test("an on-demand browser of that configuration comes from the pool at once, and is destroyed and replaced at its end", async () => {
  const id = await servingPool();
  const before = await podsOf(id);
  const name = `n-${newId()}`;
  const session = await kernel.browsers.create({ headless: true, name, tags: { team: "a" }, timeout_seconds: 90 });
  expect(session).toMatchObject({ name, tags: { team: "a" }, headless: true, timeout_seconds: 90, vaults: [] });
  expect(session).not.toHaveProperty("pool");
  expect(await isStarted(session.session_id)).toBe(false);
  expect(await acquired(id)).toBe(1);
  const cdp = await openCdp(session);
  expect(await cdp.version()).toContain("Chrome");
  cdp.close();
  expect(await kernel.browsers.retrieve(name)).toMatchObject({ session_id: session.session_id, timeout_seconds: 90 });
  await kernel.browsers.deleteByID(name);
  await untilAvailable(kernel, id, 2);
  const after = await podsOf(id);
  expect(after).toHaveLength(2);
  expect(after.filter((uid) => before.includes(uid))).toHaveLength(1);
  const ended = await kernel.browsers.retrieve(session.session_id, { include_deleted: true });
  expect(ended).toMatchObject({ name, deleted_at: expect.stringMatching(/Z$/) });
});

// POOL-22
test("it is destroyed also when the pool's own release asks for reuse, and the next holder finds nothing of it", async () => {
  const id = await servingPool({ size: 1, reuse_policy: "keep" });
  const before = await podsOf(id);
  const session = await kernel.browsers.create({ headless: true });
  await withCdp(session.cdp_ws_url, (cdp) => setCookie(cdp, "left", "behind"));
  await kernel.browserPools.release(id, { session_id: session.session_id, reuse: true });
  await eventually("another browser is there", async () => {
    const [now, ...others] = await podsOf(id);
    return now !== undefined && others.length === 0 && !before.includes(now);
  });
  await untilAvailable(kernel, id, 1);
});

// POOL-22
test("another configuration, a pool without an idle browser and one that does not serve have it started", async () => {
  const serving = await servingPool({ size: 1 });
  const { id: closed } = await filledPool(kernel, { size: 1 });
  made.push(closed);
  const other = await kernel.browsers.create({ headless: true, viewport: { width: 800, height: 600 } });
  expect(await isStarted(other.session_id)).toBe(true);
  const first = await kernel.browsers.create({ headless: true });
  expect(await isStarted(first.session_id)).toBe(false);
  expect([await acquired(serving), await acquired(closed)]).toEqual([1, 0]);
  const second = await kernel.browsers.create({ headless: true });
  expect(await isStarted(second.session_id)).toBe(true);
  expect([await acquired(serving), await acquired(closed)]).toEqual([1, 0]);
  for (const { session_id } of [other, first, second]) await kernel.browsers.deleteByID(session_id);
});

// POOL-22, LEASE-6
test("a name that is taken is refused, and takes no browser; a pool that stops to serve does so at once", async () => {
  const id = await servingPool();
  const name = `n-${newId()}`;
  const session = await kernel.browsers.create({ headless: true, name });
  await expect(kernel.browsers.create({ headless: true, name })).rejects.toMatchObject({
    status: 409,
    error: { code: "name_taken" },
  });
  expect(await acquired(id)).toBe(1);
  await kernel.browserPools.update(id, { serve_on_demand: false } as object);
  const other = await kernel.browsers.create({ headless: true });
  expect(await isStarted(other.session_id)).toBe(true);
  for (const { session_id } of [session, other]) await kernel.browsers.deleteByID(session_id);
});
