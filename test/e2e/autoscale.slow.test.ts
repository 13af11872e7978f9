/** Pools whose size follows the demand, with real browsers. */
import type Kernel from "@onkernel/sdk";
import type { BrowserPool as WirePool } from "@onkernel/sdk/resources/browser-pools";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type BrowserPool, browserPoolKind } from "../../src/core/model/pools/browser-pool.ts";
import { pods } from "../../src/platform/kube/resource-type.ts";
import { eventually } from "../support/eventually.ts";
import { fastest, untilAvailable } from "../support/filled-pool.ts";
import { openCdp } from "../support/pool-client.ts";
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

/** The SDK knows only pools of a fixed size. */
const create = async (autoscale: object): Promise<WirePool> => {
  const params = { headless: true, fill_rate_per_minute: fastest, autoscale } as unknown as { size: number };
  const pool = await kernel.browserPools.create(params);
  made.push(pool.id);
  return pool;
};
const update = (id: string, change: object): Promise<WirePool> => kernel.browserPools.update(id, change);
const acquire = async (id: string) => {
  const session = await kernel.browserPools.acquire(id, { acquire_timeout_seconds: 30 });
  const cdp = await openCdp(session);
  expect(await cdp.version()).toContain("Chrome");
  cdp.close();
  return session;
};
const release = (id: string, session_id: string) => kernel.browserPools.release(id, { session_id });
const read = async (id: string): Promise<BrowserPool> =>
  (await stack.kube.get(browserPoolKind, { namespace: stack.namespace, name: id })) as BrowserPool;
const podCount = async (id: string): Promise<number> =>
  (await stack.kube.list(pods, { namespace: stack.namespace })).items.filter(({ metadata }) =>
    metadata.name.startsWith(`${id}-`),
  ).length;
const untilSize = (id: string, size: number): Promise<BrowserPool> =>
  eventually(`the size of ${id} is ${size}`, async () => {
    const pool = await read(id);
    return pool.status?.acceptedSize === size && pool;
  });
const reason = ({ status }: BrowserPool) => status?.conditions.find(({ type }) => type === "ScalingLimited")?.reason;

// POOL-29
test("a pool at size zero wakes for a caller who waits, and goes to zero again", async () => {
  const { id, browser_pool_config } = await create({ min: 0, max: 2, buffer: 0, scale_down_after_seconds: 1 });
  expect(browser_pool_config).toMatchObject({ size: 0, autoscale: { min: 0, max: 2, buffer: 0 } });
  await untilSize(id, 0);
  expect(await podCount(id)).toBe(0);
  for (const round of [1, 2]) {
    const session = await acquire(id);
    expect((await kernel.browserPools.retrieve(id)).acquired_count, `round ${round}`).toBe(1);
    await untilSize(id, 1);
    await release(id, session.session_id);
    await untilSize(id, 0);
    await eventually("no browser is left", async () => (await podCount(id)) === 0);
  }
});

// POOL-23, POOL-30
test("a pool keeps its buffer above what is in use, up to max, and says why", async () => {
  const { id } = await create({ min: 1, max: 2, buffer: 1, scale_down_after_seconds: 1 });
  await untilAvailable(kernel, id, 1);
  const first = await acquire(id);
  await untilAvailable(kernel, id, 1);
  expect(reason(await read(id))).toBe("Demand");
  const second = await acquire(id);
  await eventually("it is at max", async () => reason(await read(id)) === "AtMax");
  expect(await kernel.browserPools.acquire(id, { acquire_timeout_seconds: 1 })).toBeFalsy();
  expect(await podCount(id)).toBe(2);
  for (const { session_id } of [first, second]) await release(id, session_id);
  await untilSize(id, 1);
  await untilAvailable(kernel, id, 1);
});

// POOL-23, POOL-PATCH-19
test("a pool gets autoscale and a fixed size by updates, and a contradiction is refused by name", async () => {
  const { id } = await create({ min: 0, max: 3, buffer: 0 });
  const refused = async (change: object): Promise<string[]> => {
    const error = await update(id, change).catch((reason) => reason);
    expect(error).toMatchObject({ status: 400 });
    return error.error.details.map(({ message }: { message: string }) => message);
  };
  expect(await refused({ size: 2 })).toEqual([expect.stringMatching(/^size: the pool has autoscale/)]);
  expect(await refused({ autoscale: {} })).toEqual(["size: give exactly one of size and autoscale"]);
  expect(await refused({ size: 2, autoscale: { max: 3 } })).toEqual(["size: give exactly one of size and autoscale"]);
  const fixed = await update(id, { size: 1, autoscale: {} });
  expect(fixed.browser_pool_config).toMatchObject({ size: 1 });
  expect(fixed.browser_pool_config).not.toHaveProperty("autoscale");
  await untilAvailable(kernel, id, 1);
  expect(reason(await read(id))).toBeUndefined();
  const scaled = await update(id, { autoscale: { min: 2, max: 3 } });
  expect(scaled.browser_pool_config).toMatchObject({ autoscale: { min: 2, max: 3, buffer: "20%" } });
  await untilAvailable(kernel, id, 2);
});

// POOL-28
test("a min that the organization's limit has no room for is refused; a max above it is only never reached", async () => {
  const params = { headless: true, autoscale: { min: 1000, max: 1000 } } as unknown as { size: number };
  await expect(kernel.browserPools.create(params)).rejects.toMatchObject({
    status: 400,
    error: { details: [{ message: expect.stringMatching(/^autoscale\.min: .*limit of \d+ pooled sessions$/) }] },
  });
  const { browser_pool_config } = await create({ min: 0, max: 1000 });
  expect(browser_pool_config).toMatchObject({ autoscale: { max: 1000 } });
});
