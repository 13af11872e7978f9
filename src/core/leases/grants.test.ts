import { EventEmitter } from "node:events";
import { expect, test, vi } from "vitest";
import { createLogger } from "../../platform/base/log.ts";
import type { RedisConnection } from "../../platform/redis/connection.ts";
import { type GrantsOptions, startGrants } from "./grants.ts";
import { grantsChannel } from "./pool-keys.ts";

/** Grants of a replica whose Redis this test plays: it knows nothing of `lost` callers. */
const playing = async (lost: string[], times: Partial<GrantsOptions>) => {
  const subscribed = async () => 2;
  const subscriber = Object.assign(new EventEmitter(), {
    ssubscribe: vi.fn(subscribed),
    sunsubscribe: vi.fn(subscribed),
    disconnect: vi.fn(),
  });
  const asked: string[][] = [];
  const store = {
    findLost: async (_poolUid: string, _channel: string, sessions: string[]) => {
      asked.push(sessions);
      return { subscribers: 1, lost: sessions.filter((session) => lost.includes(session)) };
    },
    beat: vi.fn(async () => false),
  };
  const options = { subscriber: subscriber as unknown as RedisConnection, store: store as never, replicaId: "r" };
  const grants = startGrants({
    ...options,
    log: createLogger("silent", "test"),
    checkMs: 60_000,
    beatMs: 60_000,
    ...times,
  });
  await grants.follow("pool");
  return { grants, subscriber, store, asked };
};
const { signal } = new AbortController();

// LEASE-42
test("each of very many callers is checked, by calls of a bounded size, and one that Redis has lost takes again", async () => {
  const sessions = Array.from({ length: 1203 }, (_, n) => `s${n}`);
  const lost = ["s0", "s499", "s500", "s999", "s1202"];
  const { grants, asked } = await playing(lost, { checkMs: 20 });
  const listeners = new Map(sessions.map((session) => [session, grants.listen("pool", session)]));
  const woken = await Promise.all(lost.map((session) => listeners.get(session)?.next(signal)));
  expect(woken).toEqual(lost.map(() => ({ kind: "recheck" })));
  expect(asked.slice(0, 3).flat().toSorted()).toEqual(sessions.toSorted());
  expect(Math.max(...asked.map(({ length }) => length))).toBe(500);
  expect(grants.size()).toBe(1203);
  for (const listener of listeners.values()) listener.stop();
  expect(grants.size()).toBe(0);
  await grants.close();
});

test("a message wakes its caller alone, and one that can't be read nobody", async () => {
  const { grants, subscriber } = await playing([], {});
  const [one, other] = ["one", "other"].map((session) => grants.listen("pool", session));
  const say = (text: string) => subscriber.emit("smessage", grantsChannel("pool", "r"), text);
  say("no JSON");
  say(JSON.stringify({ session: "one", wake: "draining" }));
  expect(await one?.next(signal)).toEqual({ kind: "draining" });
  const stop = new AbortController();
  const waits = other?.next(stop.signal);
  stop.abort(new Error("nothing came"));
  await expect(waits).rejects.toThrow("nothing came");
  await grants.close();
});

test("a replica beats while it has callers, and checks them after it was silent", async () => {
  const { grants, store, asked } = await playing(["s"], { beatMs: 10 });
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(store.beat).not.toHaveBeenCalled();
  store.beat.mockResolvedValueOnce(true);
  const listener = grants.listen("pool", "s");
  expect(await listener.next(signal)).toEqual({ kind: "recheck" });
  expect(asked).toEqual([["s"]]);
  await grants.close();
});
