import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { filledPool } from "../support/filled-pool.ts";
import { connectRawCdp } from "../support/raw-cdp.ts";
import { type Stack, startStack } from "../support/stack.ts";

let stack: Stack;

/** Asks the browser of a session, over a connection that closes at once. */
const ask = async ({ cdp_ws_url }: { cdp_ws_url: string }, method: string): Promise<Record<string, unknown>> => {
  const connection = await connectRawCdp(cdp_ws_url);
  const answer = await connection.send(method);
  await connection.close();
  return answer as Record<string, unknown>;
};

beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack[Symbol.asyncDispose]());

// LEASE-33
test("a session ends at its greatest age, also with a connection, and no request may ask for more than the installation allows", async () => {
  const { kernel } = stack;
  const pool = await filledPool(kernel, { max_session_seconds: 10 });
  const pooled = await kernel.browserPools.acquire(pool.id, {});
  const onDemand = await kernel.browsers.create({ headless: true, max_session_seconds: 11 } as object);
  const connections = await Promise.all([pooled, onDemand].map(({ cdp_ws_url }) => connectRawCdp(cdp_ws_url)));
  await Promise.all(connections.map(({ closed }) => closed));
  for (const [session, seconds] of [
    [pooled, 10],
    [onDemand, 11],
  ] as const) {
    const ended = await eventually("the session has ended", async () => {
      const found = await kernel.browsers.retrieve(session.session_id, { include_deleted: true });
      return found.deleted_at ? found : undefined;
    });
    expect(ended).toMatchObject({ end_reason: "max_lifetime" });
    expect(Date.parse(ended.deleted_at ?? "") - Date.parse(ended.created_at)).toBeGreaterThanOrEqual(seconds * 1000);
  }
  await eventually("the pool has replaced its browser", async () => {
    const { available_count } = await kernel.browserPools.retrieve(pool.id);
    return available_count === 1;
  });
  for (const max_session_seconds of [9, 259_201]) {
    const refused = { status: 400, error: { details: [{ path: "max_session_seconds" }] } };
    await expect(kernel.browserPools.update(pool.id, { max_session_seconds } as object)).rejects.toMatchObject(refused);
    await expect(kernel.browsers.create({ max_session_seconds } as object)).rejects.toMatchObject(refused);
  }
});

// LEASE-31
test("a holder who asks for more time without a connection gets it, and the next holder gets the same browser", async () => {
  const { kernel } = stack;
  const pool = await filledPool(kernel, { size: 1, timeout_seconds: 10, reuse_policy: "keep" } as object);
  const session = await kernel.browserPools.acquire(pool.id, {});
  const { targetInfos } = await ask(session, "Target.getTargets");
  const longer = await kernel.browsers.update(session.session_id, { timeout_seconds: 20 } as object);
  expect(longer).toMatchObject({ session_id: session.session_id, timeout_seconds: 20 });
  await sleep(15_000);
  expect(await kernel.browsers.retrieve(session.session_id)).toMatchObject({ timeout_seconds: 20 });
  await kernel.browserPools.release(pool.id, { session_id: session.session_id, reuse: true });
  const next = await kernel.browserPools.acquire(pool.id, { acquire_timeout_seconds: 60 });
  expect(next).toMatchObject({ timeout_seconds: 10 });
  expect(await ask(next, "Target.getTargets")).toMatchObject({
    targetInfos: [{ targetId: (targetInfos as [{ targetId: string }])[0].targetId }],
  });
  await kernel.browsers.update(next.session_id, { timeout_seconds: 11 } as object);
  const ended = await eventually("it has ended", async () => {
    const found = await kernel.browsers.retrieve(next.session_id, { include_deleted: true });
    return found.deleted_at ? found : undefined;
  });
  expect(ended).toMatchObject({ end_reason: "timeout", timeout_seconds: 11 });
  for (const timeout_seconds of [9, 259_201, 10.5, null])
    await expect(kernel.browsers.update(next.session_id, { timeout_seconds } as object)).rejects.toMatchObject({
      status: 400,
      error: { details: [{ path: "timeout_seconds" }] },
    });
});

// LEASE-31, LEASE-22
test("a browser in use ends after its timeout without a connection, and one with a connection continues", async () => {
  const { kernel } = stack;
  const pool = await filledPool(kernel, { size: 2, timeout_seconds: 10 });
  const idle = await kernel.browserPools.acquire(pool.id, {});
  const busy = await kernel.browserPools.acquire(pool.id, {});
  const connection = await connectRawCdp(busy.cdp_ws_url);
  try {
    const ended = await eventually("the idle session has ended", async () => {
      const found = await kernel.browsers.retrieve(idle.session_id, { include_deleted: true });
      return found.deleted_at ? found : undefined;
    });
    expect(ended).toMatchObject({ end_reason: "timeout" });
    const livedMs = Date.parse(ended.deleted_at ?? "") - Date.parse(ended.created_at);
    expect(livedMs).toBeGreaterThanOrEqual(10_000);
    await expect(kernel.browsers.retrieve(idle.session_id)).rejects.toThrow(/has ended \(timeout\)/);
    expect(await connection.send("Browser.getVersion")).toMatchObject({ product: expect.stringContaining("Chrome") });
  } finally {
    await connection.close();
  }
  await eventually("the pool has replaced it", async () => {
    const { acquired_count, available_count } = await kernel.browserPools.retrieve(pool.id);
    return acquired_count === 1 && available_count === 1;
  });
});
