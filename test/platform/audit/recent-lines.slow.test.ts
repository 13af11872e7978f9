/** Which audit lines a real Redis keeps for readers, also when it is full or was away. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newId } from "../../../src/core/objects/new-id.ts";
import type { AuditLine } from "../../../src/platform/audit/audit-line.ts";
import { type AuditLineStore, createAuditLineStore } from "../../../src/platform/audit/audit-line-store.ts";
import { readRecentLines } from "../../../src/platform/audit/read-recent-lines.ts";
import { createRecentLines } from "../../../src/platform/audit/recent-lines.ts";
import type { RedisConnection } from "../../../src/platform/redis/connection.ts";
import { auditLinesKey } from "../../../src/platform/redis/keys.ts";
import { sharedServers } from "../../support/control-plane.ts";
import { eventually } from "../../support/eventually.ts";
import { startRedisServer } from "../../support/redis-servers.ts";
import { idsOf, lineOf, openLines, put, readAll } from "./audit-lines.ts";

let redis: RedisConnection;
let store: AuditLineStore;
beforeAll(async () => {
  ({ redis, store } = await openLines((await sharedServers()).redisUrl));
});
afterAll(() => redis?.disconnect());

describe("what is kept", () => {
  // AUDIT-7
  test("of one project is about 5000 lines, whatever others have, and goes after a month", async () => {
    const [busy, quiet] = [newId(), newId()];
    await put([lineOf(quiet), lineOf(null, { request_id: quiet })], store);
    for (let batch = 0; batch < 70; batch++)
      await put(
        Array.from({ length: 100 }, () => lineOf(busy)),
        store,
      );
    expect(await redis.xlen(auditLinesKey(busy))).toBeGreaterThanOrEqual(5000);
    expect(await redis.xlen(auditLinesKey(busy))).toBeLessThan(5200);
    expect(await redis.ttl(auditLinesKey(busy))).toBeGreaterThan(29 * 86_400);
    expect((await readAll({ project: quiet }, { from: store })).lines).toHaveLength(1);
    const { lines } = await readAll({ limit: 100 }, { from: store });
    expect(idsOf(lines)).toContain(quiet);
  });

  // AUDIT-7
  test("of each of many projects is less", async () => {
    const own = createAuditLineStore(redis, `system-${newId()}`);
    const projects = Array.from({ length: 199 }, () => newId());
    for (const project of projects) await put([lineOf(project)], own);
    const [last = ""] = projects.splice(-1);
    for (let batch = 0; batch < 10; batch++)
      await put(
        Array.from({ length: 100 }, () => lineOf(last)),
        own,
      );
    expect(await redis.xlen(auditLinesKey(last))).toBeGreaterThanOrEqual(500);
    expect(await redis.xlen(auditLinesKey(last))).toBeLessThan(700);
    expect(await own.projects()).toEqual(expect.arrayContaining([...projects, last]));
  });

  // AUDIT-8
  test("is there once, also when the answer of Redis was lost", async () => {
    const project = newId();
    let isLost = true;
    // The first batch runs, and its answer never comes.
    const losing = new Proxy(redis, {
      get(target, name) {
        if (name !== "evalsha") return Reflect.get(target, name);
        return async (...args: Parameters<RedisConnection["evalsha"]>) => {
          const answer = await target.evalsha(...args);
          if (String(args[2]) !== auditLinesKey(project) || !isLost) return answer;
          isLost = false;
          throw new Error("Command timed out");
        };
      },
    });
    await put([lineOf(project), lineOf(project)], createAuditLineStore(losing, `system-${newId()}`));
    expect(isLost).toBe(false);
    expect(await redis.xlen(auditLinesKey(project))).toBe(2);
  });

  // AUDIT-7
  test("is little while Redis is nearly full", async () => {
    await using server = await startRedisServer(["maxmemory 100mb", "maxmemory-policy noeviction"]);
    const { redis: full, store: own } = await openLines(`redis://127.0.0.1:${server.port}`);
    try {
      for (let part = 0; part < 64; part++) await full.set(`filler:${part}`, "x".repeat(1024 * 1024));
      const project = newId();
      for (let batch = 0; batch < 10; batch++)
        await put(
          Array.from({ length: 100 }, () => lineOf(project)),
          own,
        );
      expect(await full.xlen(auditLinesKey(project))).toBeLessThan(400);
    } finally {
      full.disconnect();
    }
  });
});

// AUDIT-5, AUDIT-7
test("lines go on being kept after Redis was away, and a line says how many are missing", async () => {
  await using server = await startRedisServer([]);
  const { redis: own, store: lines } = await openLines(`redis://127.0.0.1:${server.port}`);
  let notKept = 0;
  const recent = createRecentLines({
    replica: "api-0",
    store: lines,
    onLeftOut: (_reason, count) => {
      notKept += count;
    },
    onProblem: () => undefined,
  });
  const add = (line: AuditLine): void => recent.add(line, JSON.stringify(line));
  const project = newId();
  try {
    server.signal("SIGKILL");
    await eventually("lines are given up", () => {
      add(lineOf(project));
      return notKept > 0;
    });
    await server.restart();
    await eventually("lines are kept again, and a line counts the missing ones", async () => {
      add(lineOf(project, { request_id: "after" }));
      const page = await readRecentLines({ project, limit: 100 }, lines).catch(() => undefined);
      const found = page?.lines ?? [];
      return idsOf(found).includes("after") && found.some((line) => "left_out" in line && line.left_out <= notKept);
    });
  } finally {
    await recent.close();
    own.disconnect();
  }
});
