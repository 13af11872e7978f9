import { z } from "zod";
import type { ApiKeys } from "../../core/api-keys/api-keys.ts";
import { routesWith } from "../../core/http/route.ts";
import { ProjectEvent } from "./event.ts";
import type { EventFeeds } from "./feeds.ts";
import { streamEvents } from "./stream-events.ts";

const defineRoute = routesWith<{ apiKeys: ApiKeys; events: EventFeeds }>();

export const streamEventsRoute = defineRoute(
  {
    method: "get",
    path: "/events/stream",
    operationId: "streamEvents",
    tag: "Events",
    scope: "project",
    permission: "pools:read",
    summary: "Follow what becomes of the project's pools, sessions and other objects",
    query: z.object({
      initial_events: z
        .enum(["true", "false"])
        .optional()
        .describe("true: begin with all pools and active sessions, unless the stream goes on after Last-Event-ID."),
    }),
    resumes: true,
    answers: { 200: { description: "The events that the key may see, without an end", events: ProjectEvent } },
    errors: ["bad_request", "unavailable"],
  },
  async ({ query, lastEventId, project, principal, deps, signal }) => ({
    status: 200,
    events: await streamEvents(
      { lastEventId, initial: query.initial_events === "true" },
      { project, principal },
      deps,
      signal,
    ),
  }),
);
