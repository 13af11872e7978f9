/** What a replica keeps for readers, and for how long, on real servers. */
import type { Redis } from "ioredis";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { announced } from "../../../src/cmd/features.ts";
import type { ServerEvent } from "../../../src/core/http/route.ts";
import { poolKey } from "../../../src/core/leases/pool-keys.ts";
import type { Project } from "../../../src/core/projects/projects.ts";
import { createEventFeeds, type EventFeeds } from "../../../src/features/events/feeds.ts";
import { streamEvents } from "../../../src/features/events/stream-events.ts";
import { connectSubscriber } from "../../../src/platform/redis/connection.ts";
import { eventually } from "../../support/eventually.ts";
import { silent } from "../../support/lease-parts.ts";
import { fresh } from "../vaults/vault-parts.ts";
import { type EventsParts, startEventsParts } from "./events-parts.ts";

let parts: EventsParts;
let project: Project;
beforeAll(async () => {
  parts = await startEventsParts();
  project = parts.services.projects.find(parts.projectId) as Project;
});
afterAll(() => parts?.[Symbol.asyncDispose]());

type Options = Partial<Parameters<typeof createEventFeeds>[0]>;

const startFeeds = (options: Options = {}): { feeds: EventFeeds; subscribers: Redis[] } => {
  const subscribers: Redis[] = [];
  const openSubscriber = (): Redis => {
    const subscriber = connectSubscriber(parts.redisUrl, silent) as Redis;
    subscribers.push(subscriber);
    return subscriber;
  };
  const { redis } = parts.leases;
  const { services, kube: watchKube } = parts;
  const feeds = createEventFeeds({ ...services, announced, openSubscriber, redis, watchKube, ...options });
  onTestFinished(() => feeds.stop());
  return { feeds, subscribers };
};

type Asked = { initial?: boolean; lastEventId?: string; signal?: AbortSignal };

/** Sending by sending, as single events. */
const singly = (sendings: AsyncIterable<readonly ServerEvent[]>): AsyncIterator<ServerEvent> => {
  const items = sendings[Symbol.asyncIterator]();
  const here: ServerEvent[] = [];
  return {
    async next() {
      if (here.length === 0) here.push(...((await items.next()).value ?? []));
      const value = here.shift();
      return value ? { value } : { value, done: true };
    },
    async return() {
      await items.return?.();
      return { value: undefined, done: true };
    },
  };
};

const follow = async (feeds: EventFeeds, { initial = false, lastEventId, ...more }: Asked = {}) => {
  const gone = new AbortController();
  const principal = parts.services.apiKeys.authenticate(parts.apiKey);
  if (!principal) throw new Error("the key is not known");
  const { signal = gone.signal } = more;
  const deps = { ...parts.services, events: feeds };
  const events = await streamEvents({ initial, lastEventId }, { project, principal }, deps, signal);
  return { items: singly(events), gone };
};
const dataOf = (event: ServerEvent) => JSON.parse("json" in event ? event.json : JSON.stringify(event.data));
const briefOf = ({ event, kind, id }: { event: string; kind?: string; id?: string }) => [event, kind, id];

/** Makes vaults, each when `feeds` has heard of the one before: its reader is never slower than the ring. */
const makeVaults = async (feeds: EventFeeds, count: number): Promise<string[]> => {
  const { items, gone } = await follow(feeds);
  const heard = new Set<string>();
  const hearing = (async () => {
    for (;;) heard.add(dataOf((await items.next()).value).id);
  })().catch(() => undefined);
  const ids: string[] = [];
  for (let n = 0; n < count; n++) {
    const { id } = (await parts.call("POST", "/vaults", { name: fresh("many") })).body;
    await eventually("it is heard", () => heard.has(id));
    ids.push(id);
  }
  gone.abort();
  await hearing;
  return ids;
};

// EVENT-8
test("nothing is followed before the first reader, nor when the time after the last one is over", async () => {
  const { feeds, subscribers } = startFeeds({ keptMs: 300 });
  expect(subscribers).toEqual([]);
  const [one, two] = [await follow(feeds), await follow(feeds)];
  expect(subscribers.map(({ status }) => status)).toEqual(["ready"]);
  one.gone.abort();
  // A reader that is ended while it waits leaves at once.
  const waits = two.items.next();
  waits.catch(() => undefined);
  await two.items.return?.();
  await expect(waits).rejects.toThrow();
  expect(feeds.size()).toBe(1);
  const back = await follow(feeds);
  back.gone.abort();
  await eventually("the feed is gone", () => feeds.size() === 0);
  await eventually("its connection is closed", () => subscribers[0]?.status === "end");
  await makeVaults(feeds, 1);
  expect(subscribers.map(({ status }) => status)).toEqual(["end", "ready"]);
});

// EVENT-8
test("a stream that nobody reads from, such as that of a HEAD, leaves with its request", async () => {
  const { feeds } = startFeeds({ keptMs: 0 });
  const { gone } = await follow(feeds);
  expect(feeds.size()).toBe(1);
  gone.abort();
  await eventually("the feed is gone", () => feeds.size() === 0);
});

// EVENT-4
test("a reader that is slower than the ring is told so, and goes on with what follows", async () => {
  const { feeds } = startFeeds({ bounds: { count: 3, bytes: 1e6, allBytes: 1e6 } });
  const { items } = await follow(feeds);
  await makeVaults(feeds, 8);
  const { value: reset } = await items.next();
  expect([dataOf(reset).event, dataOf(reset).kind]).toEqual(["reset", undefined]);
  const [id] = await makeVaults(feeds, 1);
  const seen: unknown[] = [];
  for (;;) {
    const data = dataOf((await items.next()).value);
    seen.push(briefOf(data));
    if (data.id === id) break;
  }
  expect(seen).not.toContainEqual(["reset", undefined, undefined]);
  const { items: again } = await follow(feeds, { lastEventId: reset.id });
  expect(briefOf(dataOf((await again.next()).value))).toEqual(seen[0]);
});

// EVENT-7
test("a reader is refused while the channel of sessions can't be heard", async () => {
  const dead = () => {
    const subscriber = connectSubscriber("redis://127.0.0.1:1", silent) as Redis;
    return subscriber;
  };
  const { feeds } = startFeeds({ openSubscriber: dead, liveWithinMs: 100 });
  await expect(follow(feeds)).rejects.toMatchObject({ code: "unavailable", retryAfterSeconds: 1 });
  const gone = AbortSignal.abort(new Error("gone"));
  await expect(follow(feeds, { signal: gone })).rejects.toThrow("gone");
});

// EVENT-4
test("an answer that can't be made is told of by a reset, and the next one is told", async () => {
  const pool = await parts.pool();
  let fails = true;
  const sessionProfile: EventsParts["services"]["sessionProfile"] = async (...asked) => {
    if (fails) throw new Error("no answer");
    return parts.services.sessionProfile(...asked);
  };
  const { feeds } = startFeeds({ sessionProfile });
  const { items } = await follow(feeds);
  const session = await parts.begin(pool);
  const next = async (what: string) => {
    for (;;) {
      const data = dataOf((await items.next()).value);
      if (data.event === what) return data;
    }
  };
  await next("reset");
  fails = false;
  await parts.leases.store.release(pool.uid, session, "retired", "released");
  expect(await next("deleted")).toMatchObject({ id: session, object: { end_reason: "released" } });
});

/** A pool with this many sessions, the latest begin first, and feeds whose reads of its sessions are counted. */
const startMany = async (count: number) => {
  const pool = await parts.pool();
  const model = await parts.begin(pool);
  const { redis, store } = parts.leases;
  const lease = await store.lease(pool.uid, model);
  const sessions = Array.from({ length: count }, (_, n) => fresh(`many${String(count - n).padStart(15, "0")}`));
  const latestMs = Date.now() - 60_000;
  const put = (session: string, n: number) =>
    redis.hset(poolKey(pool.uid, "leases"), session, JSON.stringify({ ...lease, session, created_at: latestMs - n }));
  for (const [n, session] of sessions.entries()) await put(session, n);
  onTestFinished(async () => void (await redis.unlink(poolKey(pool.uid, "leases"))));
  const { leasePages } = parts.services;
  const reads: string[][] = [];
  const counted: typeof leasePages = {
    ...leasePages,
    async read(uid, some) {
      if (uid === pool.uid) reads.push(some.filter((session) => session.startsWith("many")));
      return leasePages.read(uid, some);
    },
  };
  const drop = (session = ""): Promise<number> => redis.hdel(poolKey(pool.uid, "leases"), session);
  return { sessions, put, drop, reads, ...startFeeds({ leasePages: counted }) };
};

/** The sessions of `startMany` that a reader gets until it has all. */
const readAll = async (
  { items }: { items: AsyncIterator<ServerEvent> },
  onSession: (seen: string[]) => unknown = () => undefined,
): Promise<string[]> => {
  const seen: string[] = [];
  for (;;) {
    const data = dataOf((await items.next()).value);
    if (data.event === "synced") return seen;
    if (data.kind !== "session" || !data.id.startsWith("many")) continue;
    seen.push(data.id);
    await onSession(seen);
  }
};

// EVENT-5
test("a reader that begins with what there is has one batch of sessions read at a time, each once", async () => {
  const { sessions, drop, reads, feeds } = await startMany(350);
  const seen = await readAll(await follow(feeds, { initial: true }), async ({ length }) => {
    expect(reads.flat().length - length).toBeLessThanOrEqual(101);
    // It ends before its batch is read.
    if (length === 1) await drop(sessions.at(-1));
  });
  expect(seen).toEqual(sessions.slice(0, -1));
});

// EVENT-5
test("readers that begin at once share what is read, also beside one that takes nothing, and none gets old news", async () => {
  const { sessions, put, reads, feeds } = await startMany(250);
  const stalled = await follow(feeds, { initial: true });
  await stalled.items.next();
  const readers = Array.from({ length: 20 }, async () => readAll(await follow(feeds, { initial: true })));
  for (const seen of await Promise.all(readers)) expect(seen).toEqual(sessions);
  const times = Map.groupBy(reads.flat(), (session) => session);
  for (const session of sessions) expect(times.get(session)?.length).toBeLessThanOrEqual(2);
  const added = fresh("many-added");
  await put(added, -1);
  expect(await readAll(await follow(feeds, { initial: true }))).toEqual([added, ...sessions]);
  expect(await readAll(stalled)).toContain(sessions.at(-1));
});
