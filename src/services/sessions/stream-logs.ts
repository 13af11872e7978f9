import { LogLine, type LogSource, logPath } from "../../protocol/agent-logs.ts";
import type { LogEvent } from "../../resources/log-wire.ts";
import type { ServiceDeps } from "../service-deps.ts";
import type { FoundSession } from "./find-session.ts";
import { openSessionStream } from "./open-session-stream.ts";

const eventsOf = async function* (lines: AsyncIterable<unknown>): AsyncGenerator<LogEvent> {
  for await (const line of lines) yield { event: "log", ...LogLine.parse(line) };
};

/** The log of a session: what is kept and, with `follow`, what comes until the session ends. */
export const streamLogs = async (
  found: FoundSession,
  { source, follow }: { source: LogSource; follow: boolean },
  deps: ServiceDeps,
  signal: AbortSignal,
): Promise<AsyncIterable<LogEvent>> => {
  const path = logPath({ session: found.lease.session, source, follow });
  return eventsOf(await openSessionStream(found, path, deps, signal));
};
