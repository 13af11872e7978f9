/** A Redis whose memory is full refuses what needs room, and everything that ends or frees something goes on. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { createEndedLeases } from "../../../src/core/leases/ended-leases.ts";
import type { Grants } from "../../../src/core/leases/grants.ts";
import { createLeavingMarks } from "../../../src/core/leases/leaving-marks.ts";
import { newId } from "../../../src/core/objects/new-id.ts";
import { createSessionNames } from "../../../src/core/reservations/session-names.ts";
import { createIdempotentAnswers } from "../../../src/platform/redis/idempotent-answers.ts";
import { lockKey } from "../../../src/platform/redis/keys.ts";
import { createLocks } from "../../../src/platform/redis/locks.ts";
import { eventually } from "../../support/eventually.ts";
import { leaseCalls } from "../../support/lease-calls.ts";
import { type LeaseParts, startLeaseParts } from "../../support/lease-parts.ts";
import { type RedisServer, startRedisServer } from "../../support/redis-servers.ts";

let server: RedisServer;
let parts: LeaseParts;
let replica: Grants;
let pool: string;

beforeAll(async () => {
  server = await startRedisServer(["maxmemory-policy noeviction"]);
  parts = await startLeaseParts(`redis://127.0.0.1:${server.port}`);
  replica = await parts.replica();
});
afterAll(async () => {
  await parts[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});
beforeEach(() => {
  pool = newId();
});
afterEach(() => limit("0"));

const limit = (bytes: string) => server.admin().config("SET", "maxmemory", bytes);
const fill = () => limit("1");
const { take, held, addBrowser, recordOf, stateOf, wakeOf } = leaseCalls(() => ({ parts, replica, pool }));
const refused = { code: "unavailable", retryAfterSeconds: 2, details: [{ code: "redis_full" }] };

describe("while Redis is full", () => {
  // LIMIT-27
  test("an acquire gets 503 with Retry-After and the reason, and holds nothing", async () => {
    const browser = await addBrowser();
    await fill();
    await expect(take("a")).rejects.toMatchObject(refused);
    expect(await stateOf(browser)).toBe("idle");
    await limit("0");
    expect((await take("a")).kind).toBe("granted");
  });

  // LIMIT-27
  test("a release ends its session, and the next waiting caller gets the browser", async () => {
    const browser = await addBrowser();
    const lease = await held("a");
    expect((await take("b")).kind).toBe("waiting");
    const woken = wakeOf("b");
    await fill();
    expect(await parts.store.release(pool, "a", "releasing", "released")).toEqual(lease);
    expect(await parts.store.offer(pool, lease)).toBe(true);
    expect(await woken).toMatchObject({ kind: "granted", lease: { browser, session: "b" } });
    expect(await parts.store.endedLease(pool, "a")).toMatchObject({ reason: "released" });
  });

  test("a browser that refuses its lease is set aside, and its caller keeps its place", async () => {
    const browser = await addBrowser();
    const lease = await held("a");
    await fill();
    expect(await parts.store.reject(pool, lease, "stale_fence")).toEqual({ kind: "waiting", ticket: lease.ticket });
    expect(await stateOf(browser)).toBe("suspect");
  });

  test("callers leave the queue, browsers are retired, suspected, marked and closed", async () => {
    const [first, second, third] = [await addBrowser(), await addBrowser(), await addBrowser()];
    const lease = await held("a");
    await held("b");
    await held("c");
    await take("d");
    await fill();
    expect(await parts.store.cancel(pool, "d")).toEqual({ kind: "cancelled" });
    await parts.store.release(pool, "a", "releasing", "released");
    expect(await parts.store.suspect(pool, lease, "unreachable")).toBe(true);
    const marks = createLeavingMarks(parts.redis);
    expect(await marks.leave(pool, [second], "NodeDrained")).toBe(1);
    expect(await parts.store.close(pool, third, "browser_lost")).toMatchObject({ session: "c" });
    expect([await stateOf(first), (await recordOf(second))?.leaving, await stateOf(third)]).toEqual([
      "suspect",
      "NodeDrained",
      undefined,
    ]);
    expect(await parts.store.drain(pool, { evenIfLeased: true })).toEqual({ leased: 1 });
  });

  test("a browser comes in, an epoch begins, and a lease is restored", async () => {
    await addBrowser();
    await fill();
    expect(await parts.repairs.establish(pool, 2)).toBe(true);
    const id = newId();
    const record = {
      id,
      pod: "p",
      address: "127.0.0.9:1",
      config: "c",
      seq: 3,
      state: "leased" as const,
      session: "r",
    };
    const restored = {
      session: "r",
      browser: id,
      pod: "p",
      address: record.address,
      config: "c",
      epoch: 1,
      seq: 3,
      created_at: Date.now(),
      ticket: "0",
      channel: "none",
      request: "{}",
    };
    const examined = await parts.repairs.examine(pool, id);
    expect(await parts.repairs.repair(pool, examined, { record, former: "kept", restored })).toBe(true);
    expect(await parts.store.lease(pool, "r")).toEqual(restored);
    expect(await parts.store.retire(pool, { reason: "x" })).toHaveLength(1);
    expect(await parts.store.spendUnpaced(pool, 1)).toBe(0);
    expect(await parts.repairs.recovered(pool, 2)).toBe(true);
  });

  // LIMIT-27
  test("ended leases can be dropped", async () => {
    await addBrowser();
    await held("a");
    await parts.store.release(pool, "a", "retired", "deleted");
    await parts.redis.zincrby(`bp:{${pool}}:ended_at`, -100_000, "a");
    await fill();
    const none = { count: 0, bytes: 0 };
    expect(await createEndedLeases(parts.redis).trim(pool, { most: none, now: none, steps: 10 })).toMatchObject({
      dropped: 1,
    });
  });

  test("a change of a session's name or tags gets 503, and so does a name for a new session", async () => {
    await addBrowser();
    const lease = await held("a");
    await fill();
    await expect(parts.store.rewrite(pool, lease, "{}")).rejects.toMatchObject(refused);
    const names = createSessionNames(parts.redis, parts.store);
    await expect(names.reserve("p", "n", { poolUid: pool, session: "a" })).rejects.toMatchObject(refused);
    expect(await parts.store.lease(pool, "a")).toEqual(lease);
  });

  test("the lock of long work lives on", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    const renewMs = 5000;
    const what = [newId()];
    const key = lockKey(createHash("sha256").update(JSON.stringify(what)).digest("hex"));
    await createLocks(parts.redis).hold(
      what,
      async () => {
        await fill();
        await parts.redis.expire(key, 3);
        vi.advanceTimersByTime(renewMs);
        await eventually("it is renewed", async () => (await parts.redis.pttl(key)) > renewMs);
      },
      { renews: true },
    );
  });

  // HTTP-21
  test("the answer of a request that is under way is kept, and no request with a key begins", async () => {
    const answers = createIdempotentAnswers(parts.redis);
    const digest = newId();
    const begun = await answers.begin(digest, "body");
    if (begun.kind !== "fresh") throw new Error(begun.kind);
    await fill();
    await answers.finish(digest, begun.mark, { bodyDigest: "body", sealed: "the answer", holders: [] });
    expect(await answers.begin(digest, "body").catch((error: unknown) => error)).toMatchObject(refused);
    await limit("0");
    expect(await answers.begin(digest, "body")).toEqual({ kind: "replay", sealed: "the answer" });
  });
});

test("every script that writes leases says whether Redis must run it while full; only what needs room may be refused", () => {
  const folder = new URL("../../../src/core/leases/scripts/", import.meta.url);
  const without = readdirSync(folder)
    .filter((file) => file.endsWith(".lua"))
    .filter((file) => !readFileSync(new URL(file, folder), "utf8").startsWith("#!lua flags=allow-oom\n"));
  expect(without.toSorted()).toEqual([
    "examine.lua", // reads
    "find-lost.lua", // reads
    "is-recovering.lua", // reads
    "names-in-use.lua", // reads
    "rewrite.lua",
    "snapshot.lua", // reads
    "take.lua",
  ]);
});
