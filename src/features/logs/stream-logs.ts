import type { AgentStreams } from "../../core/leases/agent/agent-stream.ts";
import type { LeaseStore } from "../../core/leases/lease-store.ts";
import type { CallerLimits } from "../../core/projects/caller-limits.ts";
import type { FoundSession } from "../../core/sessions/find-session.ts";
import { openSessionStream } from "../../core/sessions/open-session-stream.ts";
import type { Logger } from "../../platform/base/log.ts";
import { LogLine, type LogSource, logPath } from "./agent/api.ts";
import type { LogEvent } from "./log-wire.ts";

const eventsOf = async function* (lines: AsyncIterable<unknown>): AsyncGenerator<LogEvent> {
  for await (const line of lines) yield { event: "log", ...LogLine.parse(line) };
};

/** The log of a session: what is kept and, with `follow`, what comes until the session ends. */
export const streamLogs = async (
  found: FoundSession,
  { source, follow }: { source: LogSource; follow: boolean },
  deps: { agentStreams: AgentStreams; callerLimits: CallerLimits; log: Logger; store: LeaseStore },
  signal: AbortSignal,
): Promise<AsyncIterable<LogEvent>> => {
  const path = logPath({ session: found.lease.session, source, follow });
  return eventsOf(await openSessionStream(found, path, deps, signal));
};
