/** Pools and their browsers with the public SDK, without special handling. */
import type Kernel from "@onkernel/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type BrowserPool, browserPoolKind } from "../../src/core/model/pools/browser-pool.ts";
import { newId } from "../../src/core/objects/new-id.ts";
import { pods } from "../../src/platform/kube/resource-type.ts";
import { eventually } from "../support/eventually.ts";
import { collect, emptyPool, filledPool, untilAvailable } from "../support/filled-pool.ts";
import { cookieOf, evaluate, openTab, setCookie, tabUrls, withCdp } from "../support/raw-cdp.ts";
import { type Stack, startStack } from "../support/stack.ts";

let stack: Stack;
let kernel: Kernel;
beforeAll(async () => {
  stack = await startStack();
  kernel = stack.kernel;
});
afterAll(() => stack?.[Symbol.asyncDispose]());

const newName = (): string => `n-${newId()}`;
const notFound = { status: 404, error: { code: "not_found" } };

const untilWaiting = (poolId: string, count: number): Promise<true | undefined> =>
  eventually(`${count} callers wait for ${poolId}`, async () => {
    const pool = (await stack.kube.get(browserPoolKind, { namespace: stack.namespace, name: poolId })) as BrowserPool;
    return pool.status?.waiting === count || undefined;
  });

/** The names of the pool's pods. */
const podsOf = async (poolId: string): Promise<string[]> => {
  const { items } = await stack.kube.list(pods, { namespace: stack.namespace });
  return items.map(({ metadata }) => metadata.name).filter((name) => name.startsWith(poolId));
};

/** Acquires a browser; an empty answer (204) would be an error of the test. */
const acquire = async (pool: string, body: object = {}) => {
  const session = await kernel.browserPools.acquire(pool, body);
  if (!session) throw new Error(`no browser of ${pool}`);
  return session;
};

/** What changes by itself while the operator looks at a pool. */
const asSeen = { conditions: expect.any(Array), starting_count: expect.any(Number) };

// HTTP-27
describe("pools with the SDK", () => {
  // POOL-2, POOL-10, HTTP-10
  test("are created with the service's defaults, and read by id and by name", async () => {
    const name = newName();
    const created = await kernel.browserPools.create({ size: 2, name, fill_rate_per_minute: 0 });
    expect(created).toMatchObject({
      name,
      acquired_count: 0,
      available_count: 0,
      browser_pool_config: { size: 2, name, timeout_seconds: 600, headless: false, stealth: false, kiosk_mode: false },
    });
    expect(created.id).toMatch(/^[a-z0-9]{24}$/);
    expect(await kernel.browserPools.retrieve(created.id)).toEqual({ ...created, ...asSeen });
    expect(await kernel.browserPools.retrieve(name)).toEqual({ ...created, ...asSeen });
  });

  // HTTP-8, HTTP-9, POOL-10
  test("are listed over all pages, without gaps and repetitions", async () => {
    const tag = newName();
    const made = [];
    for (let i = 0; i < 5; i++) made.push(await emptyPool(kernel, { name: `${tag}-${i}` }));
    const first = await kernel.browserPools.list({ query: tag, limit: 2 });
    expect(first.hasNextPage()).toBe(true);
    expect(first.getPaginatedItems()).toHaveLength(2);
    const listed = await collect(kernel.browserPools.list({ query: tag.toUpperCase(), limit: 2 }));
    expect(listed.map(({ id }) => id).sort()).toEqual(made.map(({ id }) => id).sort());
    expect((await collect(kernel.browserPools.list({ name: `${tag}-3` }))).map(({ id }) => id)).toEqual([made[3]?.id]);
    expect(await collect(kernel.browserPools.list({ query: made[4]?.id ?? "" }))).toEqual([{ ...made[4], ...asSeen }]);
    for (const { id } of made) await kernel.browserPools.delete(id);
    expect(await collect(kernel.browserPools.list({ query: tag }))).toEqual([]);
  });

  // POOL-PATCH-15, POOL-PATCH-16
  test("are updated field by field", async () => {
    const pool = await emptyPool(kernel, { name: newName(), start_url: "https://a.test" });
    const renamed = newName();
    const updated = await kernel.browserPools.update(pool.id, { name: renamed, timeout_seconds: 42 });
    expect(updated).toEqual({
      ...pool,
      ...asSeen,
      name: renamed,
      browser_pool_config: { ...pool.browser_pool_config, name: renamed, timeout_seconds: 42 },
    });
    expect(await kernel.browserPools.retrieve(renamed)).toEqual({ ...updated, ...asSeen });
    await expect(kernel.browserPools.retrieve(pool.name ?? "")).rejects.toMatchObject(notFound);
  });

  // POOL-14, HTTP-4
  test("in use are deleted only by force, which ends their sessions", async () => {
    const pool = await filledPool(kernel);
    const { session_id: former } = await acquire(pool.id);
    const refusal = { status: 409, error: { code: "pool_in_use" } };
    await expect(kernel.browserPools.delete(pool.id)).rejects.toMatchObject(refusal);
    expect((await kernel.browsers.retrieve(former)).deleted_at).toBeUndefined();
    // The refused deletion has changed nothing for other callers.
    await kernel.browserPools.release(pool.id, { session_id: former });
    const { session_id } = await acquire(pool.id);
    await kernel.browserPools.delete(pool.id, { force: true });
    await expect(kernel.browserPools.retrieve(pool.id)).rejects.toMatchObject(notFound);
    await eventually("the session ends with its pool", () =>
      kernel.browsers.retrieve(session_id).then(
        () => false,
        (error: { status: number }) => error.status === 404,
      ),
    );
  });

  // POOL-14
  test("not in use are deleted without force, together with their browsers", async () => {
    // Fails when the deletion is refused, which the SDK throws, or the wait for its end runs out.
    const pool = await filledPool(kernel);
    const { session_id } = await acquire(pool.id);
    await kernel.browserPools.release(pool.id, { session_id });
    await kernel.browserPools.delete(pool.id);
    await eventually("the pool is gone", async () => {
      const left = await stack.kube.get(browserPoolKind, { namespace: stack.namespace, name: pool.id });
      return left === undefined;
    });
  });

  // POOL-13
  test("lose their idle browsers by a flush, keep the one in use, and fill up again", async () => {
    const pool = await filledPool(kernel, { size: 2 });
    const held = await acquire(pool.id);
    await withCdp(held.cdp_ws_url, (cdp) => setCookie(cdp, "held", "yes"));
    const other = await acquire(pool.id);
    await withCdp(other.cdp_ws_url, (cdp) => setCookie(cdp, "other", "yes"));
    await kernel.browserPools.release(pool.id, { session_id: other.session_id });
    await kernel.browserPools.flush(pool.id);
    const next = await acquire(pool.id);
    expect(await withCdp(next.cdp_ws_url, (cdp) => cookieOf(cdp, "other"))).toBeUndefined();
    expect(await withCdp(held.cdp_ws_url, (cdp) => cookieOf(cdp, "held"))).toBe("yes");
    await kernel.browserPools.delete(pool.id, { force: true });
  });
});

// HTTP-27
describe("browsers acquired with the SDK", () => {
  let pool: { id: string; name?: string };
  beforeAll(async () => {
    pool = await filledPool(kernel, { name: newName(), viewport: { width: 1024, height: 768 }, timeout_seconds: 321 });
  });
  afterAll(() => kernel.browserPools.delete(pool.id, { force: true }));

  // LEASE-7, LEASE-10, LEASE-15
  test("show their pool", async () => {
    const session = await acquire(pool.name ?? "", { tags: { team: "a" } });
    expect(session).toMatchObject({
      headless: true,
      stealth: false,
      kiosk_mode: false,
      gpu: false,
      timeout_seconds: 321,
      viewport: { width: 1024, height: 768 },
      pool: { id: pool.id, name: pool.name },
      tags: { team: "a" },
    });
    expect(session.base_url).toContain(stack.url);
    expect(session.cdp_ws_url).toMatch(/\?jwt=/);
    expect(session.cdp_ws_url.startsWith(`${stack.url.replace("http", "ws")}/`)).toBe(true);
    expect(session.browser_live_view_url).toMatch(/^http.*\/live\?jwt=/);
    expect(await kernel.browsers.retrieve(session.session_id)).toMatchObject({ session_id: session.session_id });
    await kernel.browserPools.release(pool.id, { session_id: session.session_id });
  });

  // LEASE-10
  test("are answered with every field of a session", async () => {
    const { session_id, ...session } = await acquire(pool.id);
    const fields = ["cdp_ws_url", "webdriver_ws_url", "base_url", "created_at", "headless", "stealth", "kiosk_mode"];
    expect(Object.keys(session)).toEqual(
      expect.arrayContaining([...fields, "gpu", "timeout_seconds", "viewport", "pool"]),
    );
    await kernel.browserPools.release(pool.id, { session_id });
  });

  // LEASE-14, LEASE-27, LEASE-26
  test("are made anew when released for reuse, in the same pod, and get a new session", async () => {
    const podsBefore = await podsOf(pool.id);
    const first = await acquire(pool.id, { name: newName(), tags: { a: "b" } });
    await withCdp(first.cdp_ws_url, async (cdp) => {
      await setCookie(cdp, "login", "gone");
      await openTab(cdp, "data:text/html,gone");
    });
    await kernel.browserPools.release(pool.id, { session_id: first.session_id });
    const second = await acquire(pool.id);
    expect(second.session_id).not.toBe(first.session_id);
    expect(second).not.toMatchObject({ name: expect.anything() });
    expect(second).not.toMatchObject({ tags: expect.anything() });
    const [cookie, tabs, width] = await withCdp(second.cdp_ws_url, (cdp) =>
      Promise.all([cookieOf(cdp, "login"), tabUrls(cdp), evaluate(cdp, "innerWidth")]),
    );
    expect([cookie, tabs, width]).toEqual([undefined, ["about:blank"], 1024]);
    expect(await podsOf(pool.id)).toEqual(podsBefore);
    await kernel.browserPools.release(pool.id, { session_id: second.session_id });
  });

  // LEASE-27, LEASE-28
  test("keep cookies and tabs when their pool says so, which a change of the pool makes true at once", async () => {
    await kernel.browserPools.update(pool.id, { reuse_policy: "keep" } as object);
    const first = await acquire(pool.id, { name: newName(), tags: { a: "b" } });
    await withCdp(first.cdp_ws_url, async (cdp) => {
      await setCookie(cdp, "login", "kept");
      await openTab(cdp, "data:text/html,kept");
    });
    await kernel.browserPools.release(pool.id, { session_id: first.session_id });
    const second = await acquire(pool.id);
    expect(second.session_id).not.toBe(first.session_id);
    expect(second).not.toMatchObject({ name: expect.anything() });
    expect(second).not.toMatchObject({ tags: expect.anything() });
    const [cookie, tabs] = await withCdp(second.cdp_ws_url, (cdp) =>
      Promise.all([cookieOf(cdp, "login"), tabUrls(cdp)]),
    );
    expect(cookie).toBe("kept");
    expect(tabs).toContain("data:text/html,kept");
    await kernel.browserPools.update(pool.id, { reuse_policy: "reset" } as object);
    await kernel.browserPools.release(pool.id, { session_id: second.session_id });
  });

  // LEASE-30
  test("are replaced by new ones when released without reuse", async () => {
    const first = await acquire(pool.id);
    await withCdp(first.cdp_ws_url, async (cdp) => {
      await setCookie(cdp, "login", "gone");
      await openTab(cdp, "data:text/html,gone");
    });
    await kernel.browserPools.release(pool.id, { session_id: first.session_id, reuse: false });
    const second = await acquire(pool.id);
    const [cookie, tabs] = await withCdp(second.cdp_ws_url, (cdp) =>
      Promise.all([cookieOf(cdp, "login"), tabUrls(cdp)]),
    );
    expect(cookie).toBeUndefined();
    expect(tabs).not.toContain("data:text/html,gone");
    await kernel.browserPools.release(pool.id, { session_id: second.session_id });
  });

  // LEASE-2
  test("go to waiting callers in the order of their requests", async () => {
    const held = await acquire(pool.id);
    const served: string[] = [];
    const wait = async (name: string) => {
      const session = await acquire(pool.id, { acquire_timeout_seconds: 60 });
      served.push(name);
      return session;
    };
    const first = wait("first");
    await untilWaiting(pool.id, 1);
    const second = wait("second");
    await untilWaiting(pool.id, 2);
    await kernel.browserPools.release(pool.id, { session_id: held.session_id });
    const { session_id } = await first;
    expect(served).toEqual(["first"]);
    await kernel.browserPools.release(pool.id, { session_id });
    await kernel.browserPools.release(pool.id, { session_id: (await second).session_id });
    expect(served).toEqual(["first", "second"]);
  });

  // LEASE-3
  test("are not free in time: the answer is empty, and the caller leaves the queue", async () => {
    const held = await acquire(pool.id);
    expect(await kernel.browserPools.acquire(pool.id, { acquire_timeout_seconds: 1 })).toBeFalsy();
    expect(await kernel.browserPools.acquire(pool.id, { acquire_timeout_seconds: 0 })).toBeFalsy();
    await kernel.browserPools.release(pool.id, { session_id: held.session_id });
    await untilAvailable(kernel, pool.id, 1);
    expect(await kernel.browserPools.retrieve(pool.id)).toMatchObject({ acquired_count: 0 });
  });

  // LEASE-5, POOL-7
  test("are not taken by a caller that hangs up while it waits", async () => {
    const held = await acquire(pool.id);
    const caller = new AbortController();
    const waiting = kernel.browserPools.acquire(pool.id, {}, { signal: caller.signal });
    await untilWaiting(pool.id, 1);
    caller.abort();
    await expect(waiting).rejects.toThrow();
    await untilWaiting(pool.id, 0);
    await kernel.browserPools.release(pool.id, { session_id: held.session_id });
    expect(await kernel.browserPools.retrieve(pool.id)).toMatchObject({ acquired_count: 0, available_count: 1 });
  });

  // LEASE-8
  test("open the start_url of the lease", async () => {
    const url = "data:text/html,start";
    const session = await acquire(pool.id, { start_url: url });
    expect(session.start_url).toBe(url);
    await withCdp(session.cdp_ws_url, (cdp) =>
      eventually("the page is opened", async () => (await tabUrls(cdp)).includes(url)),
    );
    await kernel.browserPools.release(pool.id, { session_id: session.session_id });
  });
});
