import { AppError, unavailable } from "../../platform/base/errors.ts";
import type { Logger } from "../../platform/base/log.ts";
import type { AgentStreams, OpenedStream } from "../leases/agent/agent-stream.ts";
import type { LeaseStore } from "../leases/lease-store.ts";
import type { CallerLimits } from "../projects/caller-limits.ts";
import type { FoundSession } from "./find-session.ts";

type Deps = { agentStreams: AgentStreams; callerLimits: CallerLimits; log: Logger; store: LeaseStore };

const isOver = async ({ lease, poolUid }: FoundSession, { store }: Deps): Promise<boolean> =>
  (await store.lease(poolUid, lease.session)) === undefined;

const sessionOver = (session: string): AppError => new AppError("not_found", `browser ${session} has ended`);

/** A stream that breaks off with its session has ended; any other one has failed. */
const untilOver = async function* (
  { lines }: OpenedStream,
  found: FoundSession,
  { deps, signal }: { deps: Deps; signal: AbortSignal },
): AsyncGenerator<unknown> {
  try {
    yield* lines;
  } catch (cause) {
    signal.throwIfAborted();
    if (await isOver(found, deps)) return;
    deps.log.warn({ session_id: found.lease.session, err: cause }, "a stream of a browser broke off");
    throw unavailable("the browser", cause);
  }
};

/**
 * Opens a stream of a session's agent, whose lines are unchecked JSON. It ends with the session. `path`: at the agent.
 * Throws `not_found` when the session has ended or has nothing there, `rate_limited` when its agent has too many
 * streams, else `unavailable`.
 */
export const openSessionStream = async (
  found: FoundSession,
  path: string,
  deps: Deps,
  signal: AbortSignal,
): Promise<AsyncIterable<unknown>> => {
  const { lease } = found;
  const opened = await deps.agentStreams.open(lease, path, signal);
  if (opened.kind === "ok") return untilOver(opened, found, { deps, signal });
  if (await isOver(found, deps)) throw sessionOver(lease.session);
  if (opened.kind === "refused" && opened.code === "missing")
    throw new AppError("not_found", `session ${lease.session} has nothing of this id`);
  if (opened.kind === "refused" && opened.code === "too_many_requests")
    throw deps.callerLimits.refusal("streams", "this session has too many open streams; close some", 1);
  deps.log.warn({ session_id: lease.session, answer: opened }, "a browser opened no stream");
  throw unavailable("the browser");
};
