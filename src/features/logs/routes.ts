import { z } from "zod";
import { type ServerEvent, sessionStreamsWith } from "../../core/http/route.ts";
import type { AgentStreams } from "../../core/leases/agent/agent-stream.ts";
import type { LeaseStore } from "../../core/leases/lease-store.ts";
import type { CallerLimits } from "../../core/projects/caller-limits.ts";
import type { FoundSession } from "../../core/sessions/find-session.ts";
import { openSessionStream } from "../../core/sessions/open-session-stream.ts";
import { AppError, invalidInput } from "../../platform/base/errors.ts";
import type { Logger } from "../../platform/base/log.ts";
import { LogLine, type LogSource, logPath } from "./agent/api.ts";
import { LogEvent } from "./log-event.ts";

/** The query of a stream of a session's log. */
const LogStreamQuery = z.object({
  source: z.enum(["path", "supervisor"]).describe("By what name the log is asked for."),
  path: z
    .string()
    .min(1)
    .max(255)
    .optional()
    .describe("With source=path: /var/log/chromium.log or /var/log/agent.log. These are names, not files."),
  supervisor_process: z.string().min(1).max(255).optional().describe("With source=supervisor: chromium or agent."),
  follow: z.enum(["true", "false"]).optional().describe("Also send the lines that come, until the session ends."),
});
type LogStreamQuery = z.infer<typeof LogStreamQuery>;

const eventsOf = async function* (lines: AsyncIterable<unknown>): AsyncGenerator<LogEvent> {
  for await (const line of lines) yield { event: "log", ...LogLine.parse(line) };
};

/** The log of a session: what is kept and, with `follow`, what comes until the session ends. */
const streamLogs = async (
  found: FoundSession,
  { source, follow }: { source: LogSource; follow: boolean },
  deps: { agentStreams: AgentStreams; callerLimits: CallerLimits; log: Logger; store: LeaseStore },
  signal: AbortSignal,
): Promise<AsyncIterable<LogEvent>> => {
  const path = logPath({ session: found.lease.session, source, follow });
  return eventsOf(await openSessionStream(found, path, deps, signal));
};

type Deps = { agentStreams: AgentStreams; callerLimits: CallerLimits; log: Logger; store: LeaseStore };
const defineSessionStream = sessionStreamsWith<Deps>();

/** The logs by both of their names. */
const logs = {
  path: { "/var/log/chromium.log": "chromium", "/var/log/agent.log": "agent" },
  supervisor: { chromium: "chromium", agent: "agent" },
} as const;

const nameField = { path: "path", supervisor: "supervisor_process" } as const;

/** The log that a query names. Throws `bad_request` without a name, and `not_found` for a name that no log has. */
const logOf = (query: LogStreamQuery): "chromium" | "agent" => {
  const { source } = query;
  const field = nameField[source];
  const name = query[field];
  if (name === undefined) throw invalidInput([{ path: field, message: `is required with source=${source}` }]);
  const known: Readonly<Record<string, "chromium" | "agent">> = logs[source];
  const log = Object.hasOwn(known, name) ? known[name] : undefined;
  if (log) return log;
  const names = Object.keys(known).join(" and ");
  throw new AppError("not_found", `${field}: there is no log ${name.slice(0, 100)}; there are ${names}`);
};

const serverEvents = async function* (lines: AsyncIterable<LogEvent>): AsyncGenerator<ServerEvent> {
  for await (const data of lines) yield { data };
};

/** `browsers.logs.stream` of the public clients. */
export const streamLogsRoute = defineSessionStream(
  {
    name: "logs/stream",
    operationId: "streamBrowserLogs",
    summary: "Stream a log of a browser session",
    query: LogStreamQuery,
    answers: {
      200: { description: "The lines of the log, each an event; they end with the session", events: LogEvent },
    },
    errors: ["bad_request", "not_found", "unavailable"],
  },
  async (found, { query }, deps, signal) => {
    const asked = { source: logOf(query), follow: query.follow === "true" };
    return serverEvents(await streamLogs(found, asked, deps, signal));
  },
);
