/** The recent audit lines, for people (docs/audit.md). */
import { z } from "zod";
import { AuditLine, RecentLine } from "../../platform/audit/audit-line.ts";
import type { AuditLineStore } from "../../platform/audit/audit-line-store.ts";
import { cursorForm, readRecentLines } from "../../platform/audit/read-recent-lines.ts";
import { Paging } from "../http/paging.ts";
import { routesWith } from "../http/route.ts";
import { TimeInQuery } from "../http/time-in-query.ts";
import type { Projects } from "../projects/projects.ts";

type Deps = { auditLines: AuditLineStore; projects: Projects };
const defineRoute = routesWith<Deps>();

const word = (what: string) => z.string().min(1).max(255).optional().describe(what);

const example: RecentLine = {
  stream: "audit",
  time: "2026-01-02T03:04:05.678Z",
  replica: "api-7c9",
  request_id: "0b5b7a1c-6c1e-4c9f-9a53-7f2f9a0c6f10",
  address: "10.1.2.3",
  key_id: "k1adc062b63d9cd8c7033c10",
  project: "default",
  verb: "acquireBrowser",
  object: "/browser_pools/checkout/acquire",
  method: "POST",
  route: "/browser_pools/{id_or_name}/acquire",
  session: "pfh0haxfpzowht3oi213cqos",
  result: "done",
  status: 200,
  duration_ms: 12,
};

const msOf = (time: string | undefined): number | undefined => (time === undefined ? undefined : Date.parse(time));

export const listAuditLinesRoute = defineRoute(
  {
    method: "get",
    path: "/org/audit",
    operationId: "listAuditLines",
    tag: "Audit",
    scope: "organization",
    permission: "organization",
    summary: "Read recent audit lines, the latest first",
    description:
      "For people who look for what was done of late: the record is the audit stream on stdout or in its file. A line is " +
      "here about a second after its call; the latest of each project are kept, for 30 days at most. A line with `suppressed` or " +
      "`left_out` counts others, and is left out by a filter for a field that it does not have. A page looks at 5000 " +
      "lines at most, so it may have few of them, or none, though more follow.",
    query: z.object({
      project: z
        .string()
        .min(1)
        .max(1024)
        .optional()
        .describe("Only lines of this project, by id or name; of a deleted project by id."),
      key_id: word("Only lines of the API key of this id."),
      verb: word("Only lines of this verb, e.g. `deleteVault`."),
      session: word("Only lines that name the session of this id, in `session` or in the path of the object."),
      result: AuditLine.shape.result.optional().describe("Only lines with this result."),
      since: TimeInQuery.optional().describe("Only lines of this time or later, RFC 3339."),
      until: TimeInQuery.optional().describe("Only lines of this time or earlier, RFC 3339."),
      limit: Paging.shape.limit,
      cursor: z
        .string()
        .regex(cursorForm, "give the X-Next-Cursor of the answer before")
        .optional()
        .describe("Where the page starts: the X-Next-Cursor of the answer before."),
    }),
    answers: {
      200: { description: "The lines", schema: z.array(RecentLine).meta({ examples: [[example]] }) },
    },
    errors: ["bad_request"],
  },
  async ({ query: { project, since, until, ...query }, deps }) => {
    const projectId = project === undefined ? undefined : (deps.projects.find(project)?.id ?? project);
    const wanted = { ...query, project: projectId, sinceMs: msOf(since), untilMs: msOf(until) };
    const { lines, next } = await readRecentLines(wanted, deps.auditLines);
    return {
      status: 200,
      body: lines,
      headers: { "X-Has-More": String(next !== undefined), ...(next !== undefined && { "X-Next-Cursor": next }) },
    };
  },
);
