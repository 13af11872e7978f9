/** The recent audit lines as the public clients ask for them: page by page, or as files (docs/audit.md). */
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { z } from "zod";
import { listInQuery } from "../../core/http/middleware/validate.ts";
import { numberInQuery, Paging } from "../../core/http/paging.ts";
import { routesWith } from "../../core/http/route.ts";
import { TimeInQuery } from "../../core/http/time-in-query.ts";
import type { CallerLimits } from "../../core/projects/caller-limits.ts";
import type { AuditLineStore } from "../../platform/audit/audit-line-store.ts";
import { cursorForm } from "../../platform/audit/read-recent-lines.ts";
import { AuditLogEntry } from "./log-entry.ts";
import { readEntries, readSomeEntries } from "./read-entries.ts";

type Deps = { auditLines: AuditLineStore; callerLimits: CallerLimits };
const defineRoute = routesWith<Deps>();

const tag = "Audit";
const dayMs = 24 * 60 * 60 * 1000;

/** The longest time that a list looks through, ms. */
const longestMs = 30 * dayMs;

/** Values of a filter that may be given several times. */
const mostValues = 100;

const word = z.string().min(1).max(255);

/** What follows a page, as the answer before has said. */
const cursorOf = (header: string) =>
  z
    .string()
    .regex(cursorForm, `give the ${header} of the answer before`)
    .optional()
    .describe(`Where to go on: the ${header} of the answer before.`);

const Filters = z.object({
  start: TimeInQuery.describe("Only calls of this time or later, RFC 3339."),
  end: TimeInQuery.describe("Only calls before this time, RFC 3339."),
  auth_strategy: word.optional().describe("Only calls with this `auth_strategy`: `api_key`."),
  method: word.optional().describe("Only calls with this HTTP method."),
  exclude_method: listInQuery(word, mostValues, "No calls with these HTTP methods."),
  search: word.optional().describe("Only calls with this text in path, user_id, client_ip or status, in any case."),
  search_user_id: listInQuery(word, mostValues, "Besides those that `search` finds, calls with these user_ids."),
});

/** What is no time is refused as such. */
const lengthMs = ({ start, end }: { start: string; end: string }): number => Date.parse(end) - Date.parse(start);
const isInOrder = (query: { start: string; end: string }): boolean => !(lengthMs(query) <= 0);
const inOrder = { path: ["end"], error: "must be after start" };
const isShort = (query: { start: string; end: string }): boolean => !(lengthMs(query) > longestMs);

export const listAuditLogsRoute = defineRoute(
  {
    method: "get",
    path: "/audit-logs",
    operationId: "listAuditLogs",
    tag,
    scope: "organization",
    permission: "organization",
    summary: "List recent calls, the latest first",
    description:
      "The recent lines of the audit stream, as `GET /org/audit` has them, in the form of the public clients. Lines that " +
      "count others are left out. Only the last page may be empty.",
    query: Filters.extend({ limit: Paging.shape.limit, page_token: cursorOf("X-Next-Page-Token") })
      .refine(isInOrder, inOrder)
      .refine(isShort, { path: ["end"], error: "must be at most 30 days after start" }),
    answers: { 200: { description: "The calls", schema: z.array(AuditLogEntry) } },
    errors: ["bad_request", "not_supported_here"],
  },
  async ({ query: { page_token, ...query }, deps, signal }) => {
    const { entries, next } = await readSomeEntries({ ...query, cursor: page_token }, deps.auditLines, signal);
    const headers = {
      "X-Has-More": String(next !== undefined),
      ...(next !== undefined && { "X-Next-Page-Token": next }),
    };
    return { status: 200, body: entries, headers };
  },
);

const types = { jsonl: "application/x-ndjson", "jsonl.gz": "application/gzip" } as const;

const toGzip = promisify(gzip);

export const exportAuditLogsRoute = defineRoute(
  {
    method: "get",
    path: "/audit-logs/export/chunk",
    operationId: "exportAuditLogs",
    tag,
    scope: "organization",
    permission: "organization",
    summary: "Download recent calls, chunk by chunk",
    description:
      "The calls of `GET /audit-logs`, the latest first, each as a line of JSON. A chunk looks at 5000 lines or 4 MiB of them at " +
      "most, so it may have fewer calls than `limit`, or none, though more follow. `X-Row-Count` is the number of its " +
      "calls, `X-Content-Sha256` the digest of its bytes. Chunks in a row make one file, with gzip too.",
    query: Filters.extend({
      format: z.enum(["jsonl", "jsonl.gz"]).default("jsonl.gz").describe("JSON Lines, plain or with gzip."),
      limit: numberInQuery(z.int().min(1).max(50_000).default(5000)).describe("Calls of a chunk, at most."),
      cursor: cursorOf("X-Next-Cursor"),
    }).refine(isInOrder, inOrder),
    answers: { 200: { description: "The calls, a line of JSON each", files: Object.values(types) } },
    errors: ["bad_request", "not_supported_here"],
  },
  async ({ query: { format, ...query }, principal, deps, signal }) => {
    const { entries, next } = await readEntries(query, deps.auditLines);
    const text = Buffer.from(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
    const bytes = format === "jsonl" ? text : await toGzip(text);
    const leave = deps.callerLimits.enterAnswer({ keyId: principal.keyId, projectId: undefined }, bytes.length, true);
    signal.addEventListener("abort", leave, { once: true });
    const body = async function* (): AsyncGenerator<Uint8Array> {
      try {
        yield bytes;
      } finally {
        leave();
      }
    };
    const headers = {
      "X-Content-Sha256": createHash("sha256").update(bytes).digest("hex"),
      "X-Row-Count": String(entries.length),
      "X-Has-More": String(next !== undefined),
      ...(next !== undefined && { "X-Next-Cursor": next }),
    };
    return {
      status: 200,
      file: { body: body(), type: types[format], name: `audit-logs.${format}`, bytes: bytes.length },
      headers,
    };
  },
);
