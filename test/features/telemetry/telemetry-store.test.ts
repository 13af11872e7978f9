import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newId } from "../../../src/core/objects/new-id.ts";
import {
  createTelemetryStore,
  type KeptEvent,
  type TelemetryStore,
} from "../../../src/features/telemetry/telemetry-store.ts";
import { createCollectClaims } from "../../../src/platform/redis/collect-claims.ts";
import { connectRedis, type RedisConnection, whenReady } from "../../../src/platform/redis/connection.ts";
import {
  endedTelemetryBytesKey,
  endedTelemetryKey,
  telemetryKey,
  telemetryStateKey,
} from "../../../src/platform/redis/keys.ts";
import { sharedServers } from "../../support/control-plane.ts";
import { silent } from "../../support/lease-parts.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { watchRedis } from "../../support/watch-redis.ts";

let redis: RedisConnection;
let plain: Redis;
let store: TelemetryStore;

beforeAll(async () => {
  const { redisUrl } = await sharedServers();
  redis = connectRedis(redisUrl, silent);
  await whenReady(redis, 10_000);
  plain = new Redis(redisUrl);
  store = createTelemetryStore(redis);
});
afterAll(() => {
  redis.disconnect();
  plain.disconnect();
});

const roomy = { bytes: 1e6, seconds: 3600 };
const event = (seq: number, chars = 10): KeptEvent => ({ seq, ts: 1e15 + seq * 1000, event: `"${"x".repeat(chars)}"` });
const seqsOf = async (session: string, order: "asc" | "desc" = "asc", after?: number): Promise<number[]> =>
  (await store.read(session, { order, after, count: 1000 })).events.map(({ seq }) => seq);

// TELEMETRY-33
test("collectors that race add each event once, in order", async () => {
  const session = newId();
  const batches = Array.from({ length: 40 }, (_, from) => [1, 2, 3, 4, 5].map((step) => event(from * 2 + step)));
  await Promise.all(
    batches.flatMap((batch) => [store.append(session, batch, roomy), store.append(session, batch, roomy)]),
  );
  const expected = Array.from({ length: 83 }, (_, index) => index + 1);
  expect(await seqsOf(session)).toEqual(expected);
  expect(await seqsOf(session, "desc")).toEqual(expected.toReversed());
  expect(await seqsOf(session, "asc", 80)).toEqual([81, 82, 83]);
  expect(await seqsOf(session, "desc", 4)).toEqual([3, 2, 1]);
});

// TELEMETRY-10
test("a session has its bound of bytes but for one batch, and its count of them is right", async () => {
  const session = newId();
  const random = seededRandom(5);
  for (let seq = 1; seq < 300; seq += 3)
    await store.append(
      session,
      [0, 1, 2].map((step) => event(seq + step, Math.floor(random() * 3000))),
      { bytes: 20_000, seconds: 60 },
    );
  const entries = await plain.xrange(`bp:{${session}}:telemetry`, "-", "+");
  const bytes = entries.reduce((sum, [, fields]) => sum + (fields[5] ?? "").length + 80, 0);
  expect(bytes).toBeLessThanOrEqual(20_000);
  expect(bytes).toBeGreaterThan(12_000);
  expect(await plain.hgetall(`bp:{${session}}:telemetry_state`)).toEqual({ last: "300", bytes: String(bytes) });
  expect(await plain.ttl(`bp:{${session}}:telemetry`)).toBeGreaterThan(50);
  await store.append(session, [event(301, 50_000)], { bytes: 20_000, seconds: 60 });
  expect(await seqsOf(session)).toEqual([301]);
});

// TELEMETRY-31
test("a time finds the first event of that time or later, also where numbers are missing", async () => {
  const random = seededRandom(9);
  for (const share of [1, 0.5, 0.1]) {
    const session = newId();
    const seqs = Array.from({ length: 200 }, (_, index) => index + 1).filter(() => random() < share);
    await store.append(
      session,
      seqs.map((seq) => event(seq)),
      roomy,
    );
    expect(await seqsOf(session, "desc")).toEqual(seqs.toReversed());
    expect(await seqsOf(session, "desc", 100)).toEqual(seqs.filter((seq) => seq < 100).toReversed());
    for (let wanted = 0; wanted <= 202; wanted++)
      expect(await store.seek(session, 1e15 + wanted * 1000 - 1)).toBe(seqs.find((seq) => seq >= wanted));
  }
  expect(await store.seek(newId(), 5)).toBeUndefined();
});

// TELEMETRY-33
test("claims of a replica that is gone go to others in parts, and those of one that lives do not", async () => {
  const [alive, dead, other] = [newId(), newId(), newId()].map((name) => createCollectClaims(redis, name, "telemetry"));
  if (!alive || !dead || !other) throw new Error("three replicas");
  await alive.takeOver(0);
  const sessions = Array.from({ length: 7 }, () => ({ session: newId(), poolUid: newId() }));
  for (const collected of sessions) await dead.claim(collected);
  await dead.leave();
  const own = { session: newId(), poolUid: newId() };
  await alive.claim(own);
  const taken = [];
  for (let looks = 0; looks < 20; looks++) taken.push(await other.takeOver(5));
  const all = taken.flat().filter(({ session }) => sessions.some((one) => one.session === session));
  expect(all.toSorted((a, b) => (a.session < b.session ? -1 : 1))).toEqual(
    sessions.toSorted((a, b) => (a.session < b.session ? -1 : 1)),
  );
  expect(taken.every((part) => part.length <= 5)).toBe(true);
  expect(taken.flat()).not.toContainEqual(own);
  expect(await dead.confirm(sessions)).toEqual(sessions.map(({ session }) => session));
  expect(await alive.confirm([own])).toEqual([]);
  for (const { session } of [...sessions, own]) await alive.end(session);
});

// TELEMETRY-10
test("events of ended sessions go when a project has too many bytes, the oldest first; where nothing can go, nothing is written", async () => {
  const [projectId, sessions] = [newId(), [newId(), newId(), newId()]];
  const hasEvents = (): Promise<boolean[]> =>
    Promise.all(sessions.map(async (session) => (await seqsOf(session)).length > 0));
  for (const session of sessions) {
    await store.append(session, [event(1, 1000)], roomy);
    await store.end(session, { projectId, seconds: 60, mostBytes: 2500 });
    // Of two that end in one millisecond neither is the older.
    await sleep(2);
  }
  expect(await hasEvents()).toEqual([false, true, true]);
  const { lines, stop } = await watchRedis((await sharedServers()).redisUrl);
  const commands = (): string[] =>
    lines.filter((line) => line.includes(projectId)).map((line) => line.split(" ")[0]?.toUpperCase() ?? "");
  try {
    await store.trimEnded(projectId, 0);
    expect(await hasEvents()).toEqual([false, false, false]);
    await expect.poll(commands).toContain("UNLINK");
    lines.length = 0;
    await store.trimEnded(projectId, 0);
    await expect.poll(commands).toContain("EXISTS");
    expect(commands()).toEqual(["EVALSHA", "EXISTS"]);
  } finally {
    stop();
  }
});

// TELEMETRY-10
test("a session that has ended says so, its events go sooner, and an end that comes twice counts its bytes once", async () => {
  const [projectId, session] = [newId(), newId()];
  const endOf = (ended: string, mostBytes = 1e6) => store.end(ended, { projectId, seconds: 60, mostBytes });
  const ttls = () => Promise.all([telemetryKey(session), telemetryStateKey(session)].map((key) => plain.ttl(key)));
  await store.append(session, [event(1, 1000)], roomy);
  expect(await store.read(session, { order: "asc", count: 10 })).toMatchObject({ hasEnded: false, last: 1 });
  for (const ttl of await ttls()) expect(ttl).toBeGreaterThan(60);
  await endOf(session);
  const { "": once } = await plain.hgetall(endedTelemetryBytesKey(projectId));
  await endOf(session);
  expect(await store.read(session, { order: "asc", count: 10 })).toMatchObject({ hasEnded: true, last: 1 });
  for (const ttl of await ttls()) expect(ttl).toBeLessThanOrEqual(60);
  expect(await plain.hgetall(endedTelemetryBytesKey(projectId))).toEqual({ "": once, [session]: once });
  expect(await plain.zrange(endedTelemetryKey(projectId), "0", "-1")).toEqual([session]);
  for (const key of [endedTelemetryKey(projectId), endedTelemetryBytesKey(projectId)])
    expect(await plain.ttl(key)).toBeGreaterThan(0);
});

test("what a project has of sessions whose events are gone is forgotten with its bytes", async () => {
  const [projectId, gone, later] = [newId(), newId(), newId()];
  const kept = { projectId, seconds: 60, mostBytes: 1e6 };
  await store.append(gone, [event(1, 1000)], roomy);
  await store.end(gone, kept);
  await plain.zadd(endedTelemetryKey(projectId), Date.now() - 1, gone);
  await store.append(later, [event(1, 10)], roomy);
  await store.end(later, kept);
  const { "": sum, ...sessions } = await plain.hgetall(endedTelemetryBytesKey(projectId));
  expect(sessions).toEqual({ [later]: sum });
  expect(await plain.zrange(endedTelemetryKey(projectId), "0", "-1")).toEqual([later]);
});

// TELEMETRY-10
test("a project with many ended sessions gives no more than it must, and a hundred of them at a time", async () => {
  const projectId = newId();
  const count = async (): Promise<number> => plain.zcard(endedTelemetryKey(projectId));
  const [last, kept] = [newId(), { projectId, seconds: 60, mostBytes: 1e6 }];
  await Promise.all(Array.from({ length: 103 }, () => store.end(newId(), kept)));
  // Those that end in one millisecond have no order.
  await sleep(5);
  await store.append(last, [event(1)], roomy);
  await store.end(last, kept);
  const sum = Number((await plain.hgetall(endedTelemetryBytesKey(projectId)))[""]);
  await store.trimEnded(projectId, sum);
  expect(await count()).toBe(104);
  await store.trimEnded(projectId, 0);
  expect(await count()).toBe(4);
  await store.trimEnded(projectId, 0);
  expect(await count()).toBe(0);
});

test("bytes of sessions that Redis has lost are forgotten when they are in the way", async () => {
  const [projectId, session] = [newId(), newId()];
  await plain.hset(endedTelemetryBytesKey(projectId), "", 5000, newId(), 5000);
  await store.append(session, [event(1)], roomy);
  await store.end(session, { projectId, seconds: 60, mostBytes: 1000 });
  await store.trimEnded(projectId, 1000);
  expect(await plain.exists(endedTelemetryBytesKey(projectId))).toBe(0);
});

test("events are kept again after Redis has lost their state, and old ones do not outlive the end when they come again", async () => {
  const session = newId();
  const first = [1, 2, 3].map((seq) => event(seq));
  await store.append(session, first, roomy);
  await plain.del(telemetryStateKey(session));
  await store.append(session, first, roomy);
  expect(await seqsOf(session)).toEqual([1, 2, 3]);
  await store.end(session, { projectId: newId(), seconds: 60, mostBytes: 1e6 });
  await store.append(session, first, roomy);
  expect(await plain.ttl(telemetryKey(session))).toBeLessThanOrEqual(60);
  expect(await store.read(session, { order: "asc", count: 10 })).toMatchObject({ hasEnded: true });
});

test("a large event pushes out as many small ones as it needs, and no more", async () => {
  const session = newId();
  const eventBytes = event(1).event.length + 80;
  const bounds = { bytes: 120 * eventBytes, seconds: 3600 };
  await store.append(
    session,
    Array.from({ length: 120 }, (_, index) => event(index + 1)),
    bounds,
  );
  await store.append(session, [event(121, 60 * eventBytes - 80 - 2)], bounds);
  expect(await seqsOf(session)).toEqual(Array.from({ length: 61 }, (_, index) => 61 + index));
});
