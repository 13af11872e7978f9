/**
 * Redis loses all data or its last writes while browsers are in use: no session is disturbed, and everything is
 * restored.
 */
import type { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { poolKeys } from "../../src/core/leases/pool-keys.ts";
import { createLogger } from "../../src/platform/base/log.ts";
import { connectRedis, whenReady } from "../../src/platform/redis/connection.ts";
import { eventually } from "../support/eventually.ts";
import { type LeaseView, viewLeases } from "../support/lease-view.ts";
import { type LocalStack, startLocalStack } from "../support/local-stack.ts";
import { type Cdp, fullPool, openCdp, type PoolClient, type Session } from "../support/pool-client.ts";

let stack: LocalStack;
let leases: LeaseView;
let redis: Redis;

beforeAll(async () => {
  stack = await startLocalStack();
  leases = await viewLeases(stack.redis_url, stack.kube);
  redis = connectRedis(stack.redis_url, createLogger("silent", "test")) as Redis;
  await whenReady(redis, 10_000);
});
afterAll(async () => {
  redis?.disconnect();
  leases?.close();
  await stack?.[Symbol.asyncDispose]();
});

const waiting = (pool: PoolClient, count: number) =>
  eventually(`${count} wait`, async () => (await leases.store.snapshot(await leases.uidOf(pool.id))).waiting === count);
const statusOf = async ({ session_id }: Session): Promise<number> => {
  const response = await stack.call("GET", `/browsers/${session_id}`);
  await response.body?.cancel();
  return response.status;
};
/** The session's answer without the fields that change with time. */
const answerOf = async (session: Session): Promise<object> => {
  const {
    usage: _,
    created_at: __,
    cdp_ws_url: ___,
    webdriver_ws_url: ____,
    ...rest
  } = (await (await stack.call("GET", `/browsers/${session.session_id}`)).json()) as Record<string, unknown>;
  return rest;
};
const worksOn = async (cdp: Cdp, session: Session): Promise<void> => {
  expect(await cdp.version()).toContain("Chrome");
  const again = await openCdp(session);
  expect(await again.version()).toContain("Chrome");
  again.close();
};
/**
 * All of the pool's keys as they are now; `restore` puts them back, as a failover to a replica that lagged behind does.
 */
const rememberPool = async (pool: PoolClient): Promise<{ restore(): Promise<void> }> => {
  const keys = poolKeys(await leases.uidOf(pool.id));
  const dumps = await Promise.all(keys.map((key) => redis.dumpBuffer(key)));
  return {
    async restore() {
      const transaction = redis.multi().unlink(keys);
      for (const [place, dump] of dumps.entries()) if (dump) transaction.restore(keys[place] ?? "", 0, dump);
      await transaction.exec();
      // A failover breaks connections; that tells the operator to inspect every browser.
      await redis.call("CLIENT", "KILL", "TYPE", "pubsub");
    },
  };
};

// LEASE-45
test("after a loss of all data, leases with their connections and idle browsers are restored, and waiting callers keep their order", async () => {
  const [busy, quiet] = [await fullPool(stack.call, 2), await fullPool(stack.call, 1)];
  const fields = { name: "kept", tags: { team: "a" }, acquire_timeout_seconds: 30 };
  const named = (await (await stack.call("POST", `/browser_pools/${busy.id}/acquire`, fields)).json()) as Session;
  const other = await busy.acquire();
  const sockets = [await openCdp(named), await openCdp(other)] as const;
  const before = await answerOf(named);
  const order: string[] = [];
  const callers = ["first", "second"].map(async (name, place) => {
    await waiting(busy, place);
    const session = await busy.acquire();
    order.push(name);
    return session;
  });
  await waiting(busy, 2);

  await redis.flushall();
  const seen = new Set<number>();
  await eventually("the lease is found again", async () => {
    const status = await statusOf(named);
    seen.add(status);
    return status === 200;
  });
  await busy.whenCounts({ acquired: 2, available: 0 });
  await quiet.whenCounts({ acquired: 0, available: 1 });
  expect([...seen].filter((status) => status !== 200 && status !== 503)).toEqual([]);
  expect(await answerOf(named)).toEqual(before);
  expect((await stack.call("GET", "/browsers/kept")).status).toBe(200);
  for (const [place, session] of [named, other].entries()) await worksOn(sockets[place] as Cdp, session);

  expect(await quiet.ask(1)).toMatchObject({ status: 200 });
  expect(await busy.release(named)).toBe(204);
  const first = await callers[0];
  expect(order).toEqual(["first"]);
  await sockets[0].closed;
  expect(await statusOf(named)).toBe(404);
  expect(await busy.release(other)).toBe(204);
  const second = await callers[1];
  expect(order).toEqual(["first", "second"]);
  for (const session of [first, second] as Session[]) expect(await busy.release(session)).toBe(204);
  await busy.whenCounts({ acquired: 0, available: 2 });
});

test("after a loss of the last writes, a grant and a release, the holder keeps its browser, and the released one is idle", async () => {
  const pool = await fullPool(stack.call, 2);
  const released = await pool.acquire();
  const before = await rememberPool(pool);
  const held = await pool.acquire();
  const cdp = await openCdp(held);
  expect(await pool.release(released)).toBe(204);
  await before.restore();
  await eventually("the lease is found again", async () => (await statusOf(held)) === 200);
  await worksOn(cdp, held);
  // Redis has a lease that its agent has ended. The operator notices when a bind of that lease would have timed out.
  await pool.whenCounts({ acquired: 1, available: 1 });
  expect(await statusOf(released)).toBe(404);
  expect(await pool.release(held)).toBe(204);
  await pool.whenCounts({ acquired: 0, available: 2 });
});

// LEASE-40
test("after a loss of a grant, another caller that is granted the same browser has to wait, and the holder keeps it", async () => {
  const pool = await fullPool(stack.call, 1);
  const before = await rememberPool(pool);
  const held = await pool.acquire();
  const cdp = await openCdp(held);
  await before.restore();
  const other = pool.acquire();
  await eventually("the lease is found again", async () => (await statusOf(held)) === 200);
  await waiting(pool, 1);
  await worksOn(cdp, held);
  expect(await pool.release(held)).toBe(204);
  const next = await other;
  await worksOn(await openCdp(next), next);
  expect(next.session_id).not.toBe(held.session_id);
});
