import type { Routes } from "../../../core/agent/agent-http.ts";
import { refusal, refusals } from "../../../core/agent/agent-reply.ts";
import type { LeaseKeeper } from "../../../core/agent/lease-keeper.ts";
import { LogQuery } from "./api.ts";
import type { LeaseLogs } from "./lease-logs.ts";

/** The call by which the API streams the logs of the session that holds the browser (features/logs/agent/api.ts). */
export const logRoutes = ({
  leases,
  logs,
}: {
  leases: Pick<LeaseKeeper, "state">;
  logs: Pick<LeaseLogs, "ring">;
}): Routes => ({
  "/logs": {
    GET: async ({ url = "" }) => {
      const asked = LogQuery.safeParse(Object.fromEntries(URL.parse(url, "http://agent")?.searchParams ?? []));
      if (!asked.success) return refusal("bad_request", "session, source=chromium|agent, follow=true|false");
      const { session, source, follow } = asked.data;
      if (leases.state().lease?.session_id !== session) return refusals.session_not_found;
      // Now: the next lease has another one.
      const ring = logs.ring(source);
      return { status: 200, lines: (signal) => ring.read({ follow: follow === "true" }, signal) };
    },
  },
});
