import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { filledPool } from "../support/filled-pool.ts";
import { connectRawCdp } from "../support/raw-cdp.ts";
import { type Stack, startStack } from "../support/stack.ts";

let stack: Stack;

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
