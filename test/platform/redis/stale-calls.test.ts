/**
 * Calls of the scripts that keep no leases, whose caller has lost what it had, or that come twice: what another has
 * stays as it is.
 */
import { createHash } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { newId } from "../../../src/core/objects/new-id.ts";
import { createSessionRoom, type SeenRoom } from "../../../src/core/reservations/session-room.ts";
import { createItemEvents } from "../../../src/features/vaults/items/item-events.ts";
import { type CollectClaims, type Collected, createCollectClaims } from "../../../src/platform/redis/collect-claims.ts";
import { connectRedis, type RedisConnection, whenReady } from "../../../src/platform/redis/connection.ts";
import { createIdempotentAnswers } from "../../../src/platform/redis/idempotent-answers.ts";
import {
  type CollectedKind,
  collectorsKey,
  itemEventsKey,
  itemRefusalsKey,
  keptBytesKey,
  lockKey,
} from "../../../src/platform/redis/keys.ts";
import { createLocks } from "../../../src/platform/redis/locks.ts";
import { sharedServers } from "../../support/control-plane.ts";
import { eventually } from "../../support/eventually.ts";
import { silent } from "../../support/lease-parts.ts";

let redis: RedisConnection;
beforeAll(async () => {
  redis = connectRedis((await sharedServers()).redisUrl, silent);
  await whenReady(redis, 10_000);
});
afterAll(() => redis.disconnect());

describe("a lock", () => {
  afterEach(() => void vi.useRealTimers());
  const keyOf = (what: string[]): string => lockKey(createHash("sha256").update(JSON.stringify(what)).digest("hex"));
  const renewMs = 5000;

  test("of long work lives on while that runs", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const what = [newId()];
    const work = async (): Promise<void> => {
      await redis.expire(keyOf(what), 2);
      vi.advanceTimersByTime(renewMs);
      await eventually("it is renewed", async () => (await redis.pttl(keyOf(what))) > renewMs);
    };
    await createLocks(redis).hold(what, work, { renews: true });
    expect(await redis.exists(keyOf(what))).toBe(0);
  });

  test.each(["another has it by now", "nobody has it"])(
    "that its holder has lost is neither renewed nor released by it: %s",
    async (why) => {
      vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
      const [what, isOthers] = [[newId()], why.startsWith("another")];
      await createLocks(redis).hold(
        what,
        async () => {
          if (isOthers) await redis.set(keyOf(what), "another", "EX", 3);
          else await redis.del(keyOf(what));
          vi.advanceTimersByTime(renewMs);
        },
        { renews: true },
      );
      // After the renewal and the release, which were sent before.
      expect(await redis.get(keyOf(what))).toBe(isOthers ? "another" : null);
      expect(await redis.pttl(keyOf(what))).toBeLessThanOrEqual(3000);
    },
  );
});

// ITEM-34
test("an event of an item has an id above all before it, in both of its streams, also when Redis' clock was set back", async () => {
  const [item, events] = [newId(), createItemEvents(redis)];
  const event = { type: "fill", item: "shop", actor: { id: "key" } } as const;
  const ahead = Date.now() + 3_600_000;
  const text = JSON.stringify(event);
  await redis.xadd(itemEventsKey(item), `${ahead}-5`, "event", text);
  await redis.xadd(itemRefusalsKey(item), `${ahead}-2`, "event", text);
  await events.append(item, event);
  await events.append(item, event, { isRefusal: true });
  await events.append(item, event);
  const read = await events.read(item, { limit: 10, waitMs: 0 }, new AbortController().signal);
  expect(read.map(({ id }) => id)).toEqual([2, 5, 6, 7, 8].map((seq) => `${ahead}-${seq}`));
});

describe("room for sessions", () => {
  const seen: SeenRoom = { project: 3, countsPools: true, organization: 3, counted: [] };
  const reservation = (kind: "browser" | "pool", sessions: number, id = newId(), projectId = "a") =>
    ({ projectId, id, sessions, kind }) as const;

  // LIMIT-21
  test.each(["browser", "pool"] as const)(
    "that is reserved again for the same %s is there, and counts once for others",
    async (kind) => {
      const room = createSessionRoom(redis, newId());
      const same = reservation(kind, 2);
      for (let time = 0; time < 3; time++) expect(await room.reserve(same, seen)).toBe(true);
      expect(await room.reserve(reservation("browser", 2), seen)).toBe(false);
      expect(await room.reserve(reservation("browser", 1), seen)).toBe(true);
      expect(await room.reserve(same, { ...seen, project: 2 })).toBe(false);
    },
  );

  test("of one project is not used up by pools of another, but that of the organization by its browsers", async () => {
    const room = createSessionRoom(redis, newId());
    expect(await room.reserve(reservation("pool", 3, newId(), "b"), seen)).toBe(true);
    expect(await room.reserve(reservation("browser", 3, newId(), "b"), { ...seen, countsPools: false })).toBe(true);
    expect(await room.reserve(reservation("pool", 3), seen)).toBe(true);
    expect(await room.reserve(reservation("browser", 1), { ...seen, countsPools: false })).toBe(false);
    const wide = { ...seen, countsPools: false, organization: 100 };
    expect(await room.reserve(reservation("browser", 1), wide)).toBe(true);
    expect(await room.reserve(reservation("browser", 3), wide)).toBe(false);
    expect(await room.reserve(reservation("browser", 2), wide)).toBe(true);
  });
});

describe("the bytes of a holder", () => {
  const reserved = 4096;
  const charged = async (id: string): Promise<number> =>
    Object.values(await redis.hgetall(keptBytesKey(id))).reduce((sum, bytes) => sum + Number(bytes), 0);

  // LIMIT-15
  test("are charged up to its bound, and given back also when that is lower by now", async () => {
    const [answers, id] = [createIdempotentAnswers(redis), newId()];
    const wide = [{ id, mostBytes: 2 * reserved }];
    expect([await answers.reserve(wide), await answers.reserve(wide), await answers.reserve(wide)]).toEqual([
      true,
      true,
      false,
    ]);
    await answers.forget(newId(), "mark", [{ id, mostBytes: 1 }]);
    expect(await charged(id)).toBe(reserved);
  });

  test("count for a whole day", async () => {
    const [answers, id, hour] = [createIdempotentAnswers(redis), newId(), Math.floor(Date.now() / 3_600_000)];
    await redis.hset(keptBytesKey(id), { [hour - 24]: 1, [hour - 25]: reserved });
    expect(await answers.reserve([{ id, mostBytes: reserved }])).toBe(false);
    expect(await answers.reserve([{ id, mostBytes: reserved + 1 }])).toBe(true);
  });
});

describe("a claim", () => {
  /** Two replicas, with keys of their own. */
  const claimsOf = () => {
    const kind = newId() as CollectedKind;
    const of = (): CollectClaims => createCollectClaims(redis, newId(), kind);
    return { kind, mine: of(), others: of() };
  };
  const some = (count: number): Collected[] =>
    Array.from({ length: count }, () => ({ session: newId(), poolUid: newId() }));

  test("that Redis has lost is made again by its replica, if no other has it by then", async () => {
    const { mine, others } = claimsOf();
    const all = some(3);
    const [kept, lost, taken] = all.map(({ session }) => session);
    for (const each of all) await mine.claim(each);
    await mine.end(lost ?? "");
    await others.claim(all[2] ?? expect.fail());
    expect(await mine.confirm(all)).toEqual([taken]);
    for (const { session } of all) expect(await mine.isClaimed(session)).toBe(true);
    expect(await others.confirm(all)).toEqual([kept, lost]);
  });

  test("that is free goes to one replica, and one that is offered to whichever looks for work", async () => {
    const { mine, others } = claimsOf();
    const [collected = expect.fail()] = some(1);
    const won = await Promise.all([mine.claimFree(collected), others.claimFree(collected), mine.claimFree(collected)]);
    expect(won.filter(Boolean)).toHaveLength(1);
    await mine.offer(collected);
    expect(await others.takeOver(10)).toEqual([collected]);
    expect(await mine.takeOver(10)).toEqual([]);
  });

  test("goes to another replica only when its own has been silent, and then all of its claims", async () => {
    const { kind, mine, others } = claimsOf();
    const all = some(5);
    for (const each of all) await mine.claim(each);
    expect(await others.takeOver(10)).toEqual([]);
    // As if no replica had been heard of for a while.
    for (const replica of await redis.zrange(collectorsKey(kind), "0", "-1"))
      await redis.zincrby(collectorsKey(kind), -10_000, replica);
    const looks = [await others.takeOver(2), await others.takeOver(2), await others.takeOver(2)];
    expect(looks.map((taken) => taken.length)).toEqual([2, 2, 1]);
    expect(new Set(looks.flat().map(({ session }) => session))).toEqual(new Set(all.map(({ session }) => session)));
    expect(await redis.zcard(collectorsKey(kind))).toBe(1);
  });

  test("is looked for without a trace where there is none", async () => {
    const { kind, mine } = claimsOf();
    expect(await mine.takeOver(10)).toEqual([]);
    expect(await redis.exists(collectorsKey(kind))).toBe(0);
  });
});
