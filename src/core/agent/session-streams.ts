import { type StreamKind, StreamQuery } from "../protocol/session-stream.ts";
import type { Routes } from "./agent-http.ts";
import { refusal, refusals } from "./agent-reply.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";
import type { AgentLines } from "./line-streams.ts";

/** Finds what the session that holds the browser has started; undefined when there is nothing of this id. */
type ReadStream = (id: string) => AgentLines["lines"] | undefined;

/** The route of one kind of streams (core/protocol/session-stream.ts), for the session that holds the browser. */
export const sessionStreams = (leases: Pick<LeaseKeeper, "state">, kind: StreamKind, read: ReadStream): Routes => ({
  [kind]: {
    GET: async ({ url = "" }: { url?: string }) => {
      const { pathname = "", searchParams } = URL.parse(url, "http://agent") ?? {};
      const query = StreamQuery.safeParse(Object.fromEntries(searchParams ?? []));
      if (!query.success) return refusal("bad_request", "session=…");
      if (leases.state().lease?.session_id !== query.data.session) return refusals.session_not_found;
      const lines = read(decodeURIComponent(pathname.slice(kind.length)));
      return lines ? { status: 200, lines } : refusal("missing", "the session has nothing of this id");
    },
  },
});
