/**
 * Recent audit lines in Redis, for people who read them: a bounded stream for each project, and one for lines without a
 * project, so that a busy project pushes out no line of others (AUDIT-7). The record is the stream on stdout or in a
 * file.
 */
import type { RedisConnection } from "../redis/connection.ts";
import { auditLinesKey, auditProjectsKey, organizationAuditLinesKey } from "../redis/keys.ts";
import { memoryUse } from "../redis/memory-use.ts";
import { orUnavailable, retryBriefly } from "../redis/or-unavailable.ts";
import { loadScript, numberReply, runScript } from "../redis/script.ts";

/** A line as it is kept. `ms`, `seq`: its place in the stream; `ms` is when Redis got it, by Redis' clock. */
export type KeptLine = { ms: number; seq: number; json: string };

/** Where a stream is read from, backwards. `end`: `<ms>-<seq>`, where `(` leaves this line out, or `+`. */
type Place = { end: string; count: number };

/** Every method throws `unavailable` when Redis does not answer. `project`: null for lines without one. */
export type AuditLineStore = {
  /** `lines`: JSON, in their order. A batch is there once, also when the answer of Redis was lost. */
  append(project: string | null, lines: readonly string[]): Promise<void>;
  /** The projects that have lines, those with the latest ones first. */
  projects(): Promise<string[]>;
  /** The newest lines first. */
  read(project: string | null, place: Place): Promise<KeptLine[]>;
};

/** Most lines of one stream, roughly, and of all together; the least share of a stream when there are many. */
const mostLines = 5000;
const mostOfAll = 100_000;
const leastShare = 200;

/** Projects whose lines are found without their names. */
const mostProjects = 500;

/** Redis drops a stream to which no line was added for this long, s: 30 days. */
const keptSeconds = 30 * 24 * 60 * 60;

/** How often a project is noted to have lines, and the memory of Redis is looked at, ms. */
const noteEveryMs = 60_000;

/** As telemetry, recent lines give room from this share of Redis' limit on. */
const tightShare = 0.75;

const scripts = {
  append: loadScript("append-audit-lines", import.meta.url),
  note: loadScript("note-audit-projects", import.meta.url),
};

/** `redis`: best a connection of its own: no caller's command waits behind lines. */
export const createAuditLineStore = (redis: RedisConnection, systemNamespace: string): AuditLineStore => {
  const keyOf = (project: string | null): string =>
    project === null ? organizationAuditLinesKey(systemNamespace) : auditLinesKey(project);
  const projectsKey = auditProjectsKey(systemNamespace);
  /** When each project was noted last, of those that this replica writes lines of. */
  const notedMs = new Map<string | null, number>();
  let lookedMs = -Infinity;
  let isTight = false;
  let share = mostLines;

  /** Notes that the project has lines. From time to time it settles how many lines a stream may have. */
  const note = async (project: string | null): Promise<void> => {
    const nowMs = performance.now();
    if (nowMs - (notedMs.get(project) ?? -Infinity) < noteEveryMs) return;
    const argv = [keptSeconds, mostProjects, ...(project === null ? [] : [project])];
    const streams = 1 + numberReply(await orUnavailable(runScript(redis, scripts.note, [projectsKey], argv)));
    share = Math.max(leastShare, Math.min(mostLines, Math.floor(mostOfAll / streams)));
    if (notedMs.size > mostProjects) notedMs.clear();
    notedMs.set(project, nowMs);
    if (nowMs - lookedMs < noteEveryMs) return;
    lookedMs = nowMs;
    const servers = await orUnavailable(memoryUse(redis));
    isTight = servers.some(({ usedBytes, limitBytes }) => limitBytes > 0 && usedBytes > tightShare * limitBytes);
  };

  return {
    async append(project, lines) {
      let sent = "first";
      await retryBriefly(async () => {
        await note(project);
        const argv = [isTight ? leastShare : share, keptSeconds, sent, ...lines];
        sent = "again";
        await orUnavailable(runScript(redis, scripts.append, [keyOf(project)], argv));
      });
    },
    projects: () => orUnavailable(redis.zrevrange(projectsKey, 0, -1)),
    async read(project, { end, count }) {
      const entries = await orUnavailable(redis.xrevrange(keyOf(project), end, "-", "COUNT", count));
      return entries.map(([id, [, json = ""]]) => {
        const [ms = 0, seq = 0] = id.split("-").map(Number);
        return { ms, seq, json };
      });
    },
  };
};
