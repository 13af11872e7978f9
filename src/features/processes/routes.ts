import { z } from "zod";
import { browserCallRoute } from "../../core/api/browser-call-route.ts";
import type { Config } from "../../core/config/config.ts";
import { type Route, type RouteInput, type ServerEvent, sessionStreamsWith } from "../../core/http/route.ts";
import type { AgentStreams } from "../../core/leases/agent/agent-stream.ts";
import type { CallContract } from "../../core/protocol/browser-call.ts";
import { streamPath } from "../../core/protocol/session-stream.ts";
import type { FindUsableDeps } from "../../core/sessions/authorize-session.ts";
import { type CallBrowserDeps, callBrowser } from "../../core/sessions/call-browser.ts";
import { openSessionStream } from "../../core/sessions/open-session-stream.ts";
import { AppError, notSupportedHere } from "../../platform/base/errors.ts";
import { ProcessOutput } from "./agent/api.ts";
import { execProcess, killProcess, processStatus, resizeTerminal, spawnProcess, writeStdin } from "./calls.ts";

type CallDeps = CallBrowserDeps & FindUsableDeps;
type Switch = { config: Pick<Config, "processes"> };

/** Whoever has the URL of a session has its token, and need not have this permission. */
const refuseToken = async (): Promise<never> => {
  throw new AppError(
    "forbidden",
    "the token of a session runs no processes; ask at /browsers/{id_or_name}/process with an API key that has processes:run",
  );
};

/**
 * The same route for keys with `processes:run`, where the installation has processes. A process reaches nothing of the
 * browser, so that permission stands in the place of `browsers:use`.
 */
const forProcesses = <Deps>(route: Route<Deps>): Route<Deps & Switch> => ({
  ...route,
  permission: "processes:run",
  async handle(input: RouteInput<undefined, undefined, undefined, "project", Deps & Switch>) {
    if (!input.deps.config.processes)
      throw notSupportedHere([
        { path: "process", message: "processes are off here; an administrator turns them on (docs/processes.md)" },
      ]);
    const permissions = new Set([...input.principal.permissions, "browsers:use" as const]);
    return route.handle({ ...input, principal: { ...input.principal, permissions } });
  },
  ...(route.callOfSession && { callOfSession: refuseToken }),
  ...(route.streamOfSession && { streamOfSession: refuseToken }),
});

type About = Parameters<typeof browserCallRoute>[1];

const processCall = (contract: CallContract, { errors = [], ...about }: About): Route<CallDeps & Switch> =>
  forProcesses<CallDeps>(
    browserCallRoute(contract, { ...about, errors: ["forbidden", "not_supported_here", ...errors] }),
  );

const serverEvents = async function* (lines: AsyncIterable<unknown>): AsyncGenerator<ServerEvent> {
  for await (const line of lines) yield { data: ProcessOutput.parse(line) };
};

const defineSessionStream = sessionStreamsWith<CallBrowserDeps & { agentStreams: AgentStreams }>();

const stdoutStream = defineSessionStream(
  {
    name: "process/{process_id}/stdout/stream",
    operationId: "streamProcessOutput",
    summary: "Stream the output of a process",
    params: z.object({ process_id: z.string().min(1).max(255) }),
    query: z.object({}),
    answers: {
      200: { description: "What is kept of its output, and what comes; ends with its exit", events: ProcessOutput },
    },
    errors: ["not_found", "forbidden", "not_supported_here", "rate_limited", "unavailable"],
  },
  async (found, { params }, deps, signal) => {
    const id = params.process_id ?? "";
    // A stream that an agent does not open says not why.
    await callBrowser(found, { method: "GET", path: `process/${encodeURIComponent(id)}/status` }, deps, signal);
    const path = streamPath("/processes/", { session: found.lease.session, id });
    return serverEvents(await openSessionStream(found, path, deps, signal));
  },
);

/** In the order of the documentation. */
export const processRoutes = [
  processCall(execProcess, {
    operationId: "execProcess",
    summary: "Run a process beside a browser to its end",
    description: "What it has started ends with it. It reaches no network, and of files those of the session.",
    answer: "How it ended, and what it wrote",
    errors: ["conflict"],
  }),
  processCall(spawnProcess, {
    operationId: "spawnProcess",
    summary: "Start a process beside a browser",
    description: "It ends with its session at the latest.",
    answer: "It runs",
    errors: ["conflict"],
  }),
  processCall(processStatus, {
    operationId: "getProcessStatus",
    summary: "Describe a process",
    answer: "Whether it runs, and what it uses",
  }),
  processCall(writeStdin, {
    operationId: "writeProcessInput",
    summary: "Write to the input of a process",
    answer: "It is on its way",
    errors: ["conflict"],
  }),
  forProcesses(stdoutStream),
  processCall(resizeTerminal, {
    operationId: "resizeProcess",
    summary: "Change the size of a process's terminal",
    answer: "It is told",
    errors: ["conflict"],
  }),
  processCall(killProcess, {
    operationId: "killProcess",
    summary: "Send a signal to a process",
    description: "KILL ends it with all that it has started, whatever that is.",
    answer: "It is sent",
    errors: ["conflict"],
  }),
] satisfies readonly Route[];
