/**
 * How one caller gets a browser (docs/design.md, The lease protocol, steps 1, 2 and 4).
 *
 *   follow ──► take ──granted──► bind ──ok──► held
 *               │                 └─refused──► reject (the browser is suspect, the caller keeps its place) ──► as after take
 *               │                 │             └─unknown: Redis lost the grant, or an inspection dropped it ──► take, same ticket
 *               │                 └─unauthorized: this replica's fault ──► the browser goes back untouched ──► throws `unavailable`
 *               └─waiting──► woken ──granted──► bind …
 *                              ├─ recheck ──► take, same ticket
 *                              ├─ time is up ──► cancel ──► timeout
 *                              └─ caller hung up ──► throws the signal's reason
 *
 * A repeated take is always safe: the session is the script's request id, so the script repeats the answer of an
 * earlier take. When Redis has lost that answer, the ticket gives the caller its place back. A caller that gets an
 * error holds nothing: `abandonedSessions` takes its session back, even when Redis is away at first.
 */

import { AppError } from "../../platform/base/errors.ts";
import type { Logger } from "../../platform/base/log.ts";
import { retryBriefly, whileUnavailable } from "../../platform/redis/or-unavailable.ts";
import type { Tracer } from "../../platform/tracing/tracer.ts";
import type { AbandonedSessions } from "./abandoned-sessions.ts";
import { isHeldAtAgent } from "./agent/agent-call.ts";
import type { AgentAnswer, AgentClient } from "./agent/agent-client.ts";
import { tracedCall } from "./agent/traced-call.ts";
import type { Grants, Listener } from "./grants.ts";
import type { LeaseStore, TakeOutcome } from "./lease-store.ts";
import { agentMismatch, type LeaseRecord, type SessionRequest, unauthorized } from "./records.ts";

const refusalOf = (answer: AgentAnswer): string => {
  if (answer.kind === "ok") return agentMismatch;
  return answer.kind === "refused" ? answer.code : `agent ${answer.reason}`;
};

/** `tracer`: undefined: nothing is traced. */
type BindDeps = { agents: Pick<AgentClient, "bind">; tracer?: Tracer | undefined; log: Logger };

type Binding = Pick<
  SessionRequest,
  "timeout_seconds" | "max_session_seconds" | "start_url" | "report" | "telemetry" | "keeps_files"
> & {
  /** The lease takes a browser as its former holders have left it. */
  takesKept?: boolean;
};

/**
 * Asks the agent of a granted browser to take the lease (docs/design.md, The lease protocol, step 2). Returns undefined
 * when the agent took it, else the reason why the caller can't have this browser. `whileBinding`: called once the
 * request is sent.
 */
export const bindLease = async (
  lease: LeaseRecord,
  { timeout_seconds, max_session_seconds, start_url, report, telemetry, keeps_files, takesKept = false }: Binding,
  { agents, tracer, log }: BindDeps,
  whileBinding?: (lease: LeaseRecord) => void,
): Promise<string | undefined> => {
  const asked = tracedCall(tracer, { name: "bind", lease }, (timings) =>
    agents.bind(lease, {
      session_id: lease.session,
      epoch: lease.epoch,
      seq: lease.seq,
      timeout_seconds,
      max_seconds: max_session_seconds,
      request: lease.request,
      ...(start_url && { start_url }),
      ...(telemetry && { telemetry }),
      ...(takesKept && { takes_kept: true }),
      ...(keeps_files && { keep_files: true }),
      // A browser that was made before its pool was changed is another configuration.
      ...(report?.config === lease.config && { observe: true }),
      ...timings,
    }),
  );
  whileBinding?.(lease);
  const answer = await asked;
  if (answer.kind === "ok" && isHeldAtAgent(lease, answer.state)) return undefined;
  const reason = refusalOf(answer);
  log.warn({ browser: lease.browser, pod: lease.pod, reason }, "browser refused its lease");
  return reason;
};

export type AcquireDeps = {
  store: LeaseStore;
  agents: AgentClient;
  grants: Grants;
  abandonedSessions: AbandonedSessions;
  /** Undefined: nothing is traced. */
  tracer?: Tracer | undefined;
  log: Logger;
};

type AcquireRequest = {
  poolUid: string;
  /** New for every acquire, also the request id of the scripts. */
  session: string;
  request: SessionRequest;
  /** How long to wait for a browser, ms. */
  waitMs: number;
  /** Callers that the pool's queue may have, for a new one to get in; left out: any number. */
  mostWaiting?: number;
  /** Whether the caller takes a browser as its former holders have left it; asked when one is granted. Left out: no. */
  takesKept?: () => boolean;
  /**
   * Finds the queue full when no idle browser is as it was made. Else a kept browser is made anew for the caller.
   */
  onlyClean?: boolean;
  /** Its start URL is not opened by the bind: the browser is changed first. */
  opensLater?: boolean;
  /** Called with every grant once its agent is asked, so that the caller's answer can be prepared meanwhile. */
  whileBinding?: (lease: LeaseRecord) => void;
};

export type Acquired =
  | { kind: "held"; lease: LeaseRecord }
  | { kind: "timeout" }
  | { kind: "full" }
  | { kind: "draining" };

/** `signal`: aborted when the caller hangs up or the service stops; the caller then holds nothing. */
export const acquireLease = async (
  wanted: AcquireRequest,
  deps: AcquireDeps,
  signal: AbortSignal,
): Promise<Acquired> => {
  const { poolUid, session, waitMs } = wanted;
  const untilMs = performance.now() + waitMs;
  await retryBriefly(() => deps.grants.follow(poolUid), signal);
  const listener = deps.grants.listen(poolUid, session);
  try {
    return await waitAndBind(wanted, deps, { listener, signal, untilMs, refused: new Set() });
  } catch (error) {
    // The caller gets an error, so it must keep neither its place in the queue nor a browser.
    deps.abandonedSessions.add(poolUid, session);
    throw error;
  } finally {
    listener.stop();
  }
};

/** `refused`: leases that an agent refused; a late message that grants one of them is ignored. */
type Waiting = { listener: Listener; signal: AbortSignal; untilMs: number; refused: Set<string> };

type Outcome = TakeOutcome | { kind: "timeout" };

const fenceOf = ({ browser, epoch, seq }: LeaseRecord): string => `${browser}/${epoch}/${seq}`;

const waitAndBind = async (wanted: AcquireRequest, deps: AcquireDeps, waiting: Waiting): Promise<Acquired> => {
  const { signal } = waiting;
  let outcome: Outcome = await retryBriefly(() => take(wanted, deps), signal);
  for (;;) {
    switch (outcome.kind) {
      case "granted": {
        const { lease }: { lease: LeaseRecord } = outcome;
        signal.throwIfAborted();
        const { request, opensLater } = wanted;
        const takesKept = wanted.takesKept?.() ?? false;
        const binding = { ...request, takesKept, ...(opensLater && { start_url: undefined }) };
        const refusal = await bindLease(lease, binding, deps, wanted.whileBinding);
        signal.throwIfAborted();
        if (refusal === undefined) return { kind: "held", lease };
        if (refusal === unauthorized) {
          await giveBack(wanted.poolUid, lease, deps);
          throw new AppError("unavailable", "browsers do not accept the calls of this API server; repeat the request", {
            retryAfterSeconds: 1,
          });
        }
        waiting.refused.add(fenceOf(lease));
        outcome = await retryBriefly(() => rejectOrRetake(wanted, lease, refusal, deps), signal);
        if (performance.now() >= waiting.untilMs) outcome = await leave(wanted, deps);
        break;
      }
      case "waiting":
        outcome = await waitForGrant(wanted, outcome.ticket, deps, waiting);
        break;
      case "timeout":
      case "full":
      case "draining":
        return outcome;
      default:
        throw new AppError("unavailable", "the browser was taken back before it was handed out; repeat the request", {
          retryAfterSeconds: 1,
        });
    }
  }
};

const take = (wanted: AcquireRequest, { store, grants }: AcquireDeps, ticket?: string): Promise<TakeOutcome> =>
  store.take(wanted.poolUid, {
    session: wanted.session,
    channel: grants.channel(wanted.poolUid),
    request: JSON.stringify(wanted.request),
    ...(ticket !== undefined && { ticket }),
    ...(wanted.mostWaiting !== undefined && { mostWaiting: wanted.mostWaiting }),
    ...(wanted.onlyClean && { clean: true }),
  });

const rejectOrRetake = async (
  wanted: AcquireRequest,
  lease: LeaseRecord,
  reason: string,
  deps: AcquireDeps,
): Promise<TakeOutcome> => {
  const outcome = await deps.store.reject(wanted.poolUid, lease, reason);
  return outcome.kind === "unknown" ? take(wanted, deps, lease.ticket) : outcome;
};

/** Waits for the next outcome of a queued caller. `timeout`: its time is up and it has left the queue. */
const waitForGrant = async (
  wanted: AcquireRequest,
  ticket: string,
  deps: AcquireDeps,
  { listener, signal, untilMs, refused }: Waiting,
): Promise<Outcome> => {
  const deadline = AbortSignal.timeout(Math.max(0, Math.ceil(untilMs - performance.now())));
  const until = AbortSignal.any([signal, deadline]);
  try {
    let wake = await listener.next(until);
    while (wake.kind === "granted" && refused.has(fenceOf(wake.lease))) wake = await listener.next(until);
    if (wake.kind !== "recheck") return wake;
    // The caller waits anyway, so wait for Redis as well until the caller's time is up.
    return await whileUnavailable(() => take(wanted, deps, ticket), { maxPauseMs: 1000, signal: until });
  } catch (error) {
    if (signal.aborted || !deadline.aborted) throw error;
    const cancelled = await retryBriefly(() => deps.store.cancel(wanted.poolUid, wanted.session));
    return cancelled.kind === "granted" ? cancelled : { kind: "timeout" };
  }
};

/** Ends a lease whose bind no agent has got, and offers its browser to the next caller. */
const giveBack = async (poolUid: string, { session }: LeaseRecord, { store }: AcquireDeps): Promise<void> => {
  const lease = await retryBriefly(() => store.release(poolUid, session, "releasing", "released"));
  if (lease) await retryBriefly(() => store.offer(poolUid, lease));
};

/** The caller's time is up after a browser that was refused: it tries no further one. */
const leave = async (wanted: AcquireRequest, deps: AcquireDeps): Promise<Outcome> => {
  const cancelled = await retryBriefly(() => deps.store.cancel(wanted.poolUid, wanted.session));
  if (cancelled.kind === "granted") await giveBack(wanted.poolUid, cancelled.lease, deps);
  return { kind: "timeout" };
};
