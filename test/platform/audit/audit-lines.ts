/** Recent audit lines of a test: made, put into Redis and read. */
import { newId } from "../../../src/core/objects/new-id.ts";
import type { AuditLine, RecentLine } from "../../../src/platform/audit/audit-line.ts";
import { type AuditLineStore, createAuditLineStore } from "../../../src/platform/audit/audit-line-store.ts";
import { type RecentLinesQuery, readRecentLines } from "../../../src/platform/audit/read-recent-lines.ts";
import { createLogger } from "../../../src/platform/base/log.ts";
import { connectRedis, type RedisConnection, whenReady } from "../../../src/platform/redis/connection.ts";

/** A connection to this Redis, and the lines of an organization of its own there. */
export const openLines = async (redisUrl: string): Promise<{ redis: RedisConnection; store: AuditLineStore }> => {
  const redis = connectRedis(redisUrl, createLogger("silent", "test"));
  await whenReady(redis, 10_000);
  return { redis, store: createAuditLineStore(redis, `system-${newId()}`) };
};

/** A line of this moment. */
export const lineOf = (project: string | null, more: Partial<AuditLine> = {}): AuditLine => ({
  stream: "audit",
  time: new Date().toISOString(),
  replica: "api-0",
  request_id: newId(),
  address: "10.0.0.1",
  key_id: "key",
  project,
  verb: "deleteVault",
  object: "/vaults/{id_or_name}",
  result: "done",
  status: 200,
  ...more,
});

/** Adds lines, those of each project together. */
export const put = async (lines: readonly AuditLine[], into: AuditLineStore): Promise<void> => {
  const projects = new Set(lines.map(({ project }) => project));
  for (const project of projects)
    await into.append(
      project,
      lines.filter((line) => line.project === project).map((line) => JSON.stringify(line)),
    );
};

/** All lines, page by page. `between`: what happens after each page. */
export const readAll = async (
  query: Partial<RecentLinesQuery>,
  { from, between = async () => undefined }: { from: AuditLineStore; between?: () => Promise<void> },
): Promise<{ lines: RecentLine[]; pages: number }> => {
  const lines: RecentLine[] = [];
  let cursor: string | undefined;
  for (let pages = 1; ; pages++) {
    const page = await readRecentLines({ limit: 7, ...query, cursor }, from);
    lines.push(...page.lines);
    if (page.next === undefined) return { lines, pages };
    cursor = page.next;
    await between();
  }
};

/** The ids of the lines' requests. */
export const idsOf = (lines: readonly RecentLine[]): string[] =>
  lines.map((line) => ("request_id" in line ? line.request_id : ""));
