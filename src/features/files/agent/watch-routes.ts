import type { IncomingMessage } from "node:http";
import type { Routes } from "../../../core/agent/agent-http.ts";
import { refusal, refusals } from "../../../core/agent/agent-reply.ts";
import type { LeaseKeeper } from "../../../core/agent/lease-keeper.ts";
import { WatchQuery } from "./api.ts";
import type { Watches } from "./watches.ts";

/** The events of a watch, for the session that holds the browser. */
export const watchRoutes = ({
  leases,
  watches,
}: {
  leases: Pick<LeaseKeeper, "state">;
  watches: Pick<Watches, "read">;
}): Routes => ({
  "/watches/": {
    GET: async ({ url = "" }: IncomingMessage) => {
      const { pathname = "", searchParams } = URL.parse(url, "http://agent") ?? {};
      const query = WatchQuery.safeParse(Object.fromEntries(searchParams ?? []));
      if (!query.success) return refusal("bad_request", "session=…");
      const read = watches.read(decodeURIComponent(pathname.slice(pathname.lastIndexOf("/") + 1)));
      const isHeld = leases.state().lease?.session_id === query.data.session;
      return isHeld && read ? { status: 200, lines: read } : refusals.session_not_found;
    },
  },
});
