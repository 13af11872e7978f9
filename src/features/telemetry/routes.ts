/** The telemetry of sessions, as the public SDK reads it (`browsers.telemetry`). */

import { z } from "zod";
import { listInQuery } from "../../core/http/middleware/validate.ts";
import { Paging } from "../../core/http/paging.ts";
import { routesWith, type ServerEvent, sessionStreamsWith } from "../../core/http/route.ts";
import { findUsable } from "../../core/sessions/authorize-session.ts";
import type { FindSessionDeps } from "../../core/sessions/find-session.ts";
import { type BeginAt, followEvents, readEvents } from "./read-events.ts";
import { eventCategories, TelemetryRecord } from "./telemetry-event.ts";
import type { TelemetryParts } from "./telemetry-store.ts";

type Deps = FindSessionDeps & { telemetry: TelemetryParts };
const defineRoute = routesWith<Deps>();
const defineSessionStream = sessionStreamsWith<Deps>();

const tag = "Browsers";
const scope = "project";
const TelemetryParams = z.object({ id_or_name: z.string().min(1).max(255).describe("The session's id or name.") });

/** A number of an event, as text. */
const seqText = /^\d{1,15}$/;

/** Any text: a type that the service does not know has no events. */
const type = z.string().max(64);
const mostTypes = 100;

/** A moment. */
const Moment = z.string().min(1).max(64).optional();

export const listTelemetryRoute = defineRoute(
  {
    method: "get",
    path: "/browsers/{id_or_name}/telemetry/events",
    operationId: "listTelemetryEvents",
    tag,
    scope,
    permission: "browsers:use",
    summary: "Read kept telemetry events of a browser session",
    params: TelemetryParams,
    query: z.object({
      category: listInQuery(
        z.enum(eventCategories),
        eventCategories.length,
        "Only events of these categories, of those on the page: a page may be empty though there are more.",
      ),
      type: listInQuery(type, mostTypes, "Only events of these types, of those on the page."),
      order: z.enum(["asc", "desc"]).default("asc").describe("Oldest or newest first."),
      since: Moment.describe(
        "Begin of the window, only with asc: an RFC 3339 timestamp, or a duration such as 5m for that long ago. Left out: 5m. Ignored with offset.",
      ),
      until: Moment.describe("End of the window, which is not part of it, likewise."),
      limit: Paging.shape.limit,
      offset: z
        .string()
        .regex(seqText, "give the X-Next-Offset of the answer before")
        .transform(Number)
        .optional()
        .describe("Where the page starts: the X-Next-Offset of the answer before. A page has 4 MiB at most."),
      include_deleted: z
        .enum(["true", "false"])
        .optional()
        .describe("Also of an ended session: for a day with storage.enabled, else for five minutes."),
    }),
    answers: { 200: { description: "The events", schema: z.array(TelemetryRecord) } },
    errors: ["bad_request", "not_found"],
  },
  async ({ params, query, project, principal, deps }) => {
    const includeEnded = query.include_deleted === "true";
    const { lease } = await findUsable(params.id_or_name, { project, includeEnded, principal }, deps);
    const { records, next } = await readEvents(lease.session, query, deps);
    return {
      status: 200,
      body: records,
      headers: { "X-Has-More": String(next > 0), "X-Next-Offset": String(next) },
    };
  },
);

const beginOf = (lastEventId: string | undefined, replay: string | undefined): BeginAt => {
  if (lastEventId !== undefined && seqText.test(lastEventId)) return { after: Number(lastEventId) };
  return replay === "all" ? "oldest" : "now";
};

const framed = async function* (
  records: AsyncIterable<TelemetryRecord>,
  types: readonly string[] | undefined,
): AsyncGenerator<ServerEvent> {
  for await (const record of records)
    if (types?.includes(record.event.type) ?? true) yield { id: String(record.seq), data: record };
};

/** The events as they happen, by key or by the session's token. */
export const streamTelemetryRoute = defineSessionStream(
  {
    name: "telemetry/stream",
    operationId: "streamTelemetryEvents",
    summary: "Follow the telemetry events of a browser session as they come",
    query: z.object({
      replay: z
        .string()
        .max(64)
        .optional()
        .describe("all: begin with the oldest event that is kept. Anything else: with the next new event."),
      type: listInQuery(type, mostTypes, "Only events of these types."),
    }),
    resumes: true,
    answers: { 200: { description: "The events, until the session ends", events: TelemetryRecord } },
    errors: ["bad_request", "not_found"],
  },
  async (found, { query, lastEventId }, deps, signal) =>
    framed(await followEvents(found, beginOf(lastEventId, query.replay), deps, signal), query.type),
);
