/** How entries of the audit logs are read from a real Redis, where many lines are of others. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { newId } from "../../../src/core/objects/new-id.ts";
import { readEntries, readSomeEntries } from "../../../src/features/audit-logs/read-entries.ts";
import type { AuditLineStore } from "../../../src/platform/audit/audit-line-store.ts";
import type { RedisConnection } from "../../../src/platform/redis/connection.ts";
import { auditLinesKey } from "../../../src/platform/redis/keys.ts";
import { lineOf, openLines, put } from "../../platform/audit/audit-lines.ts";
import { sharedServers } from "../../support/control-plane.ts";

let redis: RedisConnection;
let store: AuditLineStore;
beforeAll(async () => {
  ({ redis, store } = await openLines((await sharedServers()).redisUrl));
});
afterAll(() => redis?.disconnect());

const never = new AbortController().signal;
const always = { start: "2020-01-01T00:00:00Z", end: "2100-01-01T00:00:00Z", limit: 10 };

/** A project whose first line is of `createVault`, and before which as many others came as are given. */
const projectWith = async (others: readonly string[]): Promise<void> => {
  const project = newId();
  await put([lineOf(project, { verb: "createVault", key_id: "wanted" })], store);
  const pipeline = redis.pipeline();
  for (const json of others) pipeline.xadd(auditLinesKey(project), "*", "line", json);
  await pipeline.exec();
};

// AUDIT-9
test("a list has no empty page though a chunk looks at 5000 lines in vain, and ends with its caller", async () => {
  await projectWith(Array.from({ length: 11_000 }, () => JSON.stringify(lineOf("other"))));
  const query = { ...always, search_user_id: ["wanted"] };
  const chunk = await readEntries(query, store);
  expect(chunk).toEqual({ entries: [], next: expect.any(String) });
  const page = await readSomeEntries(query, store, never);
  expect(page.entries.map(({ user_id }) => user_id)).toEqual(["wanted"]);
  await expect(readSomeEntries(query, store, AbortSignal.abort(new Error("gone")))).rejects.toThrow("gone");
});

// AUDIT-10
test("a chunk has 4 MiB of lines at most, and goes on after them", async () => {
  const own = await openLines((await sharedServers()).redisUrl);
  const long = "x".repeat(8000);
  for (let batch = 0; batch < 8; batch++)
    await put(
      Array.from({ length: 100 }, () => lineOf(null, { verb: long })),
      own.store,
    );
  const first = await readEntries({ ...always, limit: 5000 }, own.store);
  expect(JSON.stringify(first.entries).length).toBeLessThan(5 * 1024 * 1024);
  expect(first.entries.length).toBeLessThan(800);
  const second = await readEntries({ ...always, limit: 5000, cursor: first.next }, own.store);
  expect(first.entries.length + second.entries.length).toBe(800);
  own.redis.disconnect();
});

// AUDIT-9
test("lines that count others have no entry, and a line of an older release has what it says", async () => {
  const own = await openLines((await sharedServers()).redisUrl);
  const { stream, time, replica, ...call } = lineOf(null);
  await own.store.append(null, [
    JSON.stringify({ stream, time, replica, ...call }),
    JSON.stringify({ stream, time, replica, project: null, left_out: 3, since: time }),
  ]);
  const { entries } = await readEntries(always, own.store);
  expect(entries).toMatchObject([{ method: "", path: call.object, route: call.object, duration_ms: 0 }]);
  own.redis.disconnect();
});
