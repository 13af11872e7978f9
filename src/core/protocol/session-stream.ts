/**
 * Streams of what a session's holder has started beside its browser, as the agent serves them:
 * `GET {kind}{id}?session=…`, lines of JSON.
 */
import { z } from "zod";
import { maxSessionId } from "./agent-api.ts";
import type { agentRoutes } from "./agent-routes.ts";

/** What a stream is of, as its path begins. */
export type StreamKind = Extract<keyof typeof agentRoutes, "/watches/" | "/processes/">;

/** The query of the call. */
export const StreamQuery = z.object({ session: z.string().min(1).max(maxSessionId) });

/** The call's path with its query. */
export const streamPath = (kind: StreamKind, { session, id }: { session: string; id: string }): string =>
  `${kind}${encodeURIComponent(id)}?${new URLSearchParams({ session })}`;
