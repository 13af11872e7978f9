import { afterAll, beforeAll, expect, test } from "vitest";
import { newId } from "../../../src/core/objects/new-id.ts";
import {
  createRecordingStore,
  type RecordingStore,
  type StoredRecording,
} from "../../../src/features/recordings/recording-store.ts";
import { connectRedis, type RedisConnection, whenReady } from "../../../src/platform/redis/connection.ts";
import { recordingRoomKey, recordingsKey } from "../../../src/platform/redis/keys.ts";
import { sharedServers } from "../../support/control-plane.ts";
import { silent } from "../../support/lease-parts.ts";

let redis: RedisConnection;
let store: RecordingStore;
beforeAll(async () => {
  redis = connectRedis((await sharedServers()).redisUrl, silent);
  await whenReady(redis, 10_000);
  store = createRecordingStore(redis);
});
afterAll(() => redis.disconnect());

const record = (more: Partial<StoredRecording> = {}): StoredRecording => ({
  id: newId(),
  session: newId(),
  poolUid: newId(),
  projectId: newId(),
  startedMs: Date.now(),
  goesMs: Date.now() + 60_000,
  mostBytes: 1000,
  ...more,
});

// REPLAY-8
test("recordings that begin at once never take more room than their project has, and an end gives the rest back", async () => {
  const projectId = newId();
  const wanted = { bytes: 300, ms: 60_000 };
  const all = Array.from({ length: 20 }, () => record({ projectId }));
  const reserved = await Promise.all(all.map((each) => store.reserve(each, wanted, { bytes: 1000, count: 100 })));
  expect(reserved.filter(Boolean)).toHaveLength(3);
  const first = all[reserved.indexOf(true)] ?? record();
  const next = (most = { bytes: 1000, count: 100 }) => store.reserve(record({ projectId }), wanted, most);
  expect(await next()).toBe(false);
  await store.finish(first, 10);
  expect(await next()).toBe(true);
  expect(await next()).toBe(false);
  await store.drop(first);
  expect(await next({ bytes: 5000, count: 3 })).toBe(false);
  expect(await next({ bytes: 5000, count: 4 })).toBe(true);
});

// REPLAY-8
test("room is free when its recording is kept no longer", async () => {
  const projectId = newId();
  const reserve = (ms: number) => store.reserve(record({ projectId }), { bytes: 10, ms }, { bytes: 10, count: 1 });
  expect(await reserve(50)).toBe(true);
  expect(await reserve(50)).toBe(false);
  await expect.poll(() => reserve(60_000)).toBe(true);
  expect(await redis.hlen(recordingRoomKey(projectId))).toBe(1);
});

test("room goes by itself with the last of its recordings, though a later one is kept for a shorter time", async () => {
  const [projectId, most] = [newId(), { bytes: 100, count: 10 }];
  const expiresIn = async (ms: number): Promise<number> => {
    await store.reserve(record({ projectId }), { bytes: 1, ms }, most);
    return redis.ttl(recordingRoomKey(projectId));
  };
  expect(await expiresIn(60_000)).toBeGreaterThan(50);
  expect(await expiresIn(600_000)).toBeGreaterThan(500);
  expect(await expiresIn(1000)).toBeGreaterThan(500);
});

test("nothing is kept for ever of a recording that ends after Redis has lost its room", async () => {
  const lost = record();
  await store.finish(lost, 10);
  for (const key of [recordingRoomKey(lost.projectId), recordingsKey(lost.poolUid, lost.session)])
    expect(await redis.ttl(key)).toBeGreaterThan(0);
});

// REPLAY-7
test("recordings are those of one session, in the order of their begin, until they go", async () => {
  const [session, poolUid] = [newId(), newId()];
  const later = record({ session, poolUid, startedMs: Date.now() + 5 });
  const sooner = record({ session, poolUid });
  const gone = record({ session, poolUid, goesMs: Date.now() - 1 });
  for (const each of [later, sooner, gone]) await store.put(each);
  // Put with an end that is over, the hash itself would be gone.
  await store.put(later);
  await store.put(sooner);
  expect(await store.list(poolUid, session)).toEqual([sooner, later]);
  expect(await store.list(newId(), session)).toEqual([]);
  expect(await store.get(poolUid, session, gone.id)).toBeUndefined();
  expect(await store.get(poolUid, session, later.id)).toEqual(later);
});
