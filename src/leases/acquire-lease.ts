/**
 * The way of one caller to a browser (design.md, the lease protocol, steps 1, 2 and 4).
 *
 *   take ──granted──► bind ──ok──► held
 *    │                 └─refused──► reject (the browser is suspect, the caller keeps its place) ──► as after take
 *    └─waiting──► woken ──granted──► bind …
 *                   ├─ time is up ──► cancel ──► timeout
 *                   └─ caller gone ──► cancel, or give the browser on unused ──► throws the signal's reason
 *
 * A failure of Redis on the way leaves the session to `abandonLease`, which goes on trying until Redis answers.
 */
import { AppError } from "../errors.ts";
import type { Logger } from "../log.ts";
import type { AgentClient } from "./agent-client.ts";
import type { Grants } from "./grants.ts";
import type { LeaseStore, TakeOutcome } from "./lease-store.ts";
import type { LeaseRecord, SessionRequest } from "./records.ts";
import { endOnAgent } from "./release-lease.ts";
import { whileUnavailable } from "./while-unavailable.ts";

export type AcquireDeps = { store: LeaseStore; agents: AgentClient; grants: Grants; log: Logger };

export type AcquireRequest = {
  poolUid: string;
  /** New for every acquire, also the request id of the scripts. */
  session: string;
  request: SessionRequest;
  /** How long to wait for a browser, ms. */
  waitMs: number;
};

export type Acquired = { kind: "held"; lease: LeaseRecord } | { kind: "timeout" } | { kind: "draining" };

/** Tries of `abandonLease`, with 0.1 s to 5 s between them: about a minute. What is left then is found by the operator's audit. */
const abandonTries = 16;

/** Tries to find a waiting caller's place again after Redis was away: about ten seconds. */
const recheckTries = 7;

/** `signal`: aborted when the caller is gone or the service stops; nothing is held then. */
export const acquireLease = async (
  wanted: AcquireRequest,
  deps: AcquireDeps,
  signal: AbortSignal,
): Promise<Acquired> => {
  const listener = deps.grants.listen(wanted.session);
  try {
    return await waitAndBind(wanted, deps, { listener, signal, untilMs: performance.now() + wanted.waitMs });
  } catch (error) {
    // Whatever went wrong, the place in the queue or the browser must not stay with a caller who was told of an error.
    void abandonLease(wanted, deps);
    throw error;
  } finally {
    listener.stop();
  }
};

type Waiting = { listener: ReturnType<Grants["listen"]>; signal: AbortSignal; untilMs: number };

const waitAndBind = async (wanted: AcquireRequest, deps: AcquireDeps, waiting: Waiting): Promise<Acquired> => {
  let outcome = await take(wanted, deps);
  for (;;) {
    if (outcome.kind === "granted") {
      waiting.signal.throwIfAborted();
      const answer = await bind(outcome.lease, wanted.request, deps);
      waiting.signal.throwIfAborted();
      if (answer === "ok") return { kind: "held", lease: outcome.lease };
      outcome = await deps.store.reject(wanted.poolUid, outcome.lease, answer);
    } else if (outcome.kind === "waiting") {
      outcome = await waitForGrant(wanted, outcome.ticket, deps, waiting);
      if (outcome.kind === "unknown") return { kind: "timeout" };
    } else if (outcome.kind === "draining") {
      return { kind: "draining" };
    } else {
      throw new AppError("unavailable", "the browser was taken back before it was handed out; repeat the request", {
        retryAfterSeconds: 1,
      });
    }
  }
};

const take = (wanted: AcquireRequest, { store, grants }: AcquireDeps, ticket?: string): Promise<TakeOutcome> =>
  store.take(wanted.poolUid, {
    session: wanted.session,
    channel: grants.channel,
    request: JSON.stringify(wanted.request),
    ...(ticket !== undefined && { ticket }),
  });

/** The next outcome for a queued caller; `unknown` when its time is up and it has left the queue. */
const waitForGrant = async (
  wanted: AcquireRequest,
  ticket: string,
  deps: AcquireDeps,
  { listener, signal, untilMs }: Waiting,
): Promise<TakeOutcome> => {
  const deadline = AbortSignal.timeout(Math.max(0, Math.ceil(untilMs - performance.now())));
  const until = AbortSignal.any([signal, deadline]);
  try {
    const wake = await listener.next(until);
    if (wake.kind !== "recheck") return wake;
    // The connection for commands may come back a moment after the one for messages.
    return await whileUnavailable(() => take(wanted, deps, ticket), { tries: recheckTries, signal: until });
  } catch (error) {
    if (signal.aborted || !deadline.aborted) throw error;
    const cancelled = await deps.store.cancel(wanted.poolUid, wanted.session);
    return cancelled.kind === "granted" ? cancelled : { kind: "unknown" };
  }
};

/** "ok", or why the browser can't be handed out. */
const bind = async (lease: LeaseRecord, request: SessionRequest, { agents, log }: AcquireDeps): Promise<string> => {
  const answer = await agents.bind(lease, {
    session_id: lease.session,
    epoch: lease.epoch,
    seq: lease.seq,
    timeout_seconds: request.timeout_seconds,
    ...(request.start_url && { start_url: request.start_url }),
  });
  if (answer.kind === "ok") return "ok";
  const reason = answer.kind === "refused" ? answer.code : `agent ${answer.reason}`;
  log.warn({ browser: lease.browser, pod: lease.pod, reason }, "browser refused its lease; trying the next one");
  return reason;
};

/** Takes a session whose caller will not have it out of everything it may be in, trying again while Redis is away. Never rejects. */
export const abandonLease = async (
  { poolUid, session }: Pick<AcquireRequest, "poolUid" | "session">,
  deps: AcquireDeps,
): Promise<void> => {
  const takeBack = async (): Promise<void> => {
    const { kind } = await deps.store.cancel(poolUid, session);
    if (kind === "granted") await giveBack(poolUid, session, deps);
  };
  try {
    await whileUnavailable(takeBack, { tries: abandonTries });
  } catch (err) {
    deps.log.warn({ err, session }, "an abandoned session could not be taken back; left to the audit");
  }
};

/** The bind may or may not have reached the agent, so the browser goes the way of a release: the agent confirms first. */
const giveBack = async (poolUid: string, session: string, deps: AcquireDeps): Promise<void> => {
  const lease = await deps.store.release(poolUid, session, "releasing", "released");
  if (lease) await endOnAgent(poolUid, lease, deps);
};
