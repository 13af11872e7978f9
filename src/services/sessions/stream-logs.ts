import { LogLine, type LogSource, logPath } from "../../protocol/agent-logs.ts";
import type { LogEvent } from "../../resources/log-wire.ts";
import type { Project } from "../projects/projects.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { findSession } from "./find-session.ts";
import { openSessionStream } from "./open-session-stream.ts";

const eventsOf = async function* (lines: AsyncIterable<unknown>): AsyncGenerator<LogEvent> {
  for await (const line of lines) yield { event: "log", ...LogLine.parse(line) };
};

/** The log of a session of the project: what is kept and, with `follow`, what comes until the session ends. Throws `not_found`. */
export const streamLogs = async (
  { idOrName, source, follow }: { idOrName: string; source: LogSource; follow: boolean },
  project: Project,
  deps: ServiceDeps,
  signal: AbortSignal,
): Promise<AsyncIterable<LogEvent>> => {
  const found = await findSession(idOrName, { project }, deps);
  const path = logPath({ session: found.lease.session, source, follow });
  return eventsOf(await openSessionStream(found, path, deps, signal));
};
