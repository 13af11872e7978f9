/** How pages of recent audit lines are read from a real Redis. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newId } from "../../../src/core/objects/new-id.ts";
import type { AuditLine } from "../../../src/platform/audit/audit-line.ts";
import { type AuditLineStore, createAuditLineStore } from "../../../src/platform/audit/audit-line-store.ts";
import { readRecentLines } from "../../../src/platform/audit/read-recent-lines.ts";
import type { RedisConnection } from "../../../src/platform/redis/connection.ts";
import { auditLinesKey } from "../../../src/platform/redis/keys.ts";
import { sharedServers } from "../../support/control-plane.ts";
import { idsOf, lineOf, openLines, put, readAll } from "./audit-lines.ts";

let redis: RedisConnection;
let store: AuditLineStore;
beforeAll(async () => {
  ({ redis, store } = await openLines((await sharedServers()).redisUrl));
});
afterAll(() => redis?.disconnect());

describe("pages of recent lines", () => {
  // AUDIT-8
  test("have each line once, the latest first, while lines are added to all streams", async () => {
    const own = createAuditLineStore(redis, `system-${newId()}`);
    const projects = [null, newId(), newId(), newId()];
    const made: AuditLine[] = [];
    for (let round = 0; round < 10; round++)
      for (const project of projects) {
        const lines = Array.from({ length: 5 }, () => lineOf(project));
        // Several streams get lines in one millisecond, so that their ids are the same.
        await put(lines, own);
        made.push(...lines);
      }
    const { lines, pages } = await readAll(
      {},
      {
        from: own,
        between: () =>
          put(
            projects.map((each) => lineOf(each)),
            own,
          ),
      },
    );
    expect(pages).toBeGreaterThan(28);
    expect(idsOf(lines).toSorted()).toEqual(idsOf(made).toSorted());
    for (const project of projects)
      expect(idsOf(lines.filter((line) => "project" in line && line.project === project))).toEqual(
        idsOf(made.filter((line) => line.project === project)).toReversed(),
      );
  });

  // AUDIT-8
  test("of streams with the same places have each line once", async () => {
    const [own, projects] = [
      createAuditLineStore(redis, `system-${newId()}`),
      ["b", "a", "c"].map((name) => `${name}${newId()}`),
    ];
    for (const project of projects) {
      await put([lineOf(project)], own);
      await redis.del(auditLinesKey(project));
      for (const place of ["1000-0", "1000-1", "2000-0"])
        await redis.xadd(
          auditLinesKey(project),
          place,
          "line",
          JSON.stringify(lineOf(project, { request_id: `${project} ${place}` })),
        );
    }
    for (const limit of [1, 2, 4]) {
      const { lines } = await readAll({ limit }, { from: own });
      expect(idsOf(lines)).toEqual(
        ["2000-0", "1000-1", "1000-0"].flatMap((place) =>
          projects
            .toSorted()
            .reverse()
            .map((name) => `${name} ${place}`),
        ),
      );
    }
  });

  // AUDIT-6
  test.each([
    [{ key_id: "k1" }, ["one", "two"]],
    [{ key_id: "k1", verb: "createVault" }, ["two"]],
    [{ result: "refused" as const }, ["three"]],
    [{ session: "s1" }, ["four", "five"]],
    [{ session: "s2" }, []],
    [{ sinceMs: Date.parse("2026-01-01T00:00:02Z"), untilMs: Date.parse("2026-01-01T00:00:03Z") }, ["two", "three"]],
  ])("have only what matches %j", async (query, wanted) => {
    const project = newId();
    await put(
      [
        lineOf(project, { request_id: "one", key_id: "k1", time: "2026-01-01T00:00:01.000Z" }),
        lineOf(project, { request_id: "two", key_id: "k1", verb: "createVault", time: "2026-01-01T00:00:02.000Z" }),
        lineOf(project, { request_id: "three", result: "refused", time: "2026-01-01T00:00:03.000Z" }),
        lineOf(project, { request_id: "four", session: "s1", time: "2026-01-01T00:00:04.000Z" }),
        lineOf(project, { request_id: "five", object: "/browsers/s1/replays", time: "2026-01-01T00:00:05.000Z" }),
        lineOf(project, { request_id: "six", object: "/browsers/s10", time: "2026-01-01T00:00:06.000Z" }),
      ],
      store,
    );
    // The places in the stream are those times, too.
    const entries = (await redis.xrange(auditLinesKey(project), "-", "+")) as [string, string[]][];
    await redis.del(auditLinesKey(project));
    for (const [, [, json = ""]] of entries)
      await redis.xadd(auditLinesKey(project), `${Date.parse(JSON.parse(json).time)}-0`, "line", json);
    const { lines } = await readAll({ ...query, project }, { from: store });
    expect(idsOf(lines)).toEqual(wanted.toReversed());
  });

  test.each(["0-0", "0-0.a", "0-0.zz", undefined])(
    "have nothing of the time before streams began (%s)",
    async (cursor) => {
      const project = newId();
      await put([lineOf(project)], store);
      const untilMs = cursor === undefined ? Date.parse("0001-01-01T00:00:00Z") : undefined;
      expect(await readRecentLines({ project, limit: 10, cursor, untilMs }, store)).toEqual({
        lines: [],
        next: undefined,
      });
    },
  );

  // AUDIT-8
  test("look at 5000 lines at most, and say where to go on when none matches", async () => {
    const project = newId();
    const json = JSON.stringify(lineOf(project));
    await put([lineOf(project, { request_id: "first", verb: "createVault" })], store);
    for (let batch = 0; batch < 51; batch++) await redis.xadd(auditLinesKey(project), "*", "line", json);
    const many = Array.from({ length: 5000 }, () => json);
    // Another bound than the service's own, so that the first line stays.
    const pipeline = redis.pipeline();
    for (const each of many) pipeline.xadd(auditLinesKey(project), "*", "line", each);
    await pipeline.exec();
    const first = await readRecentLines({ project, verb: "createVault", limit: 10 }, store);
    expect(first).toEqual({ lines: [], next: expect.stringMatching(/^\d+-\d+\./) });
    const second = await readRecentLines({ project, verb: "createVault", limit: 10, cursor: first.next }, store);
    expect(idsOf(second.lines)).toEqual(["first"]);
    expect(second.next).toBeUndefined();
  });

  test("leave out what another version has written that can't be read, and fields that are not known", async () => {
    const project = newId();
    await store.append(project, [
      JSON.stringify({ ...lineOf(project, { request_id: "newer" }), more: 1 }),
      JSON.stringify({ ...lineOf(project), result: "undone" }),
    ]);
    const { lines } = await readRecentLines({ project, limit: 10 }, store);
    expect(idsOf(lines)).toEqual(["newer"]);
    expect(lines[0]).not.toHaveProperty("more");
  });
});
