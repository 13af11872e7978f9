import { setImmediate as nextTurn } from "node:timers/promises";
import { AppError, invalidInput } from "../../platform/base/errors.ts";
import { wireName } from "../../platform/kinds/identity.ts";
import { fromWire } from "../../platform/kinds/wire.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { retryBriefly } from "../../platform/redis/or-unavailable.ts";
import { wireProblems } from "../../platform/rules/problem.ts";
import { traced } from "../../platform/tracing/tracer.ts";
import type { Config } from "../config/config.ts";
import { type Acquired, acquireLease } from "../leases/acquire-lease.ts";
import type { LeaseRecord, SessionRequest } from "../leases/records.ts";
import type { PoolAcquireResult } from "../metrics/acquire-metrics.ts";
import type { AcquireResult, ApiMetrics } from "../metrics/api-metrics.ts";
import type { ReportOf } from "../model/browsers/on-demand-pool.ts";
import { type BrowserPool, BrowserPoolSpec } from "../model/pools/browser-pool.ts";
import { defaultAcquireTimeoutSeconds, type Fill } from "../model/pools/fill-pacing.ts";
import { largestSize, presentSize } from "../model/pools/pool-size.ts";
import type { AcquireBrowser, Session } from "../model/sessions/session-wire.ts";
import { referencesOf } from "../model/settings/references.ts";
import { mergeTelemetry, Telemetry } from "../model/settings/telemetry.ts";
import { newSessionId } from "../objects/new-id.ts";
import { requireReferences } from "../objects/references.ts";
import { requireFeatures } from "../objects/require-features.ts";
import type { WatchedObjects } from "../objects/watched-objects.ts";
import { cachedOrFetchedPool } from "../pools/use-cases/fetch-pool.ts";
import type { CallerLimits } from "../projects/caller-limits.ts";
import type { Project } from "../projects/projects.ts";
import { failedResult } from "./failed-result.ts";
import type { HandOutDeps } from "./serve-from-pool.ts";
import { type SessionAnswerDeps, sessionAnswer } from "./session-answer.ts";
import { startFailureOfPool } from "./start-failure.ts";
import { answerHeld, type StartedSession, startSession } from "./start-session.ts";
import { traceOf } from "./trace-of.ts";

export type AcquireInput = {
  idOrName: string;
  request: AcquireBrowser;
  project: Project;
  /** The API key that asks. */
  keyId: string;
  baseUrl: string;
};

export type AcquireDeps = HandOutDeps & { callerLimits: CallerLimits; kube: Kube; metrics: ApiMetrics };

/** Time after which a caller that found no place in the queue may try again, s. */
const queueRetrySeconds = 1;

const queueIsFull = (
  hasPlace: boolean,
  { config, callerLimits }: { callerLimits: CallerLimits; config: Config },
): AppError => {
  const { key, project } = config.callers.waitingAcquires;
  const message = hasPlace
    ? `${project} callers wait for a browser of this pool already; wait for their answers`
    : `too many callers wait for browsers: an API key may have ${key}, a project ${project}; wait for their answers`;
  return callerLimits.refusal("waiting_acquires", message, queueRetrySeconds);
};

/** The whole of an autoscaled pool is its `max`, of which the fill rate is a percentage. */
const fillOf = ({ fillRatePerMinute, ...spec }: BrowserPoolSpec): Fill => ({
  size: largestSize(spec),
  fillRatePerMinute,
});

const sessionRequest = (
  pool: BrowserPool,
  request: AcquireBrowser,
  project: Project,
  { limits, keptFiles }: Config,
): SessionRequest => {
  const name = wireName(pool);
  const { timeoutSeconds, maxSessionSeconds = limits.sessionSeconds } = pool.spec;
  return {
    timeout_seconds: timeoutSeconds,
    max_session_seconds: Math.min(maxSessionSeconds, limits.sessionSeconds),
    pool: { id: pool.metadata.name, uid: pool.metadata.uid, ...(name && { name }) },
    project: project.id,
    ...(request.name && { name: request.name }),
    ...(request.tags && { tags: request.tags }),
    ...(request.start_url && { start_url: request.start_url }),
    asked_at: Date.now(),
    ...(request.telemetry && { telemetry: request.telemetry }),
    ...(keptFiles.seconds > 0 && { keeps_files: true }),
  };
};

const checkTelemetry = async (
  pool: BrowserPool,
  { request, project }: AcquireInput,
  deps: { kube: Kube },
): Promise<void> => {
  if (!request.telemetry) return;
  const telemetry = fromWire(Telemetry, request.telemetry);
  const merged = mergeTelemetry(pool.spec.telemetry, telemetry);
  if (!merged.ok) throw invalidInput(wireProblems(BrowserPoolSpec, merged.problems));
  await requireReferences(referencesOf({ telemetry }), project, deps);
};

const reportOf = ({ spec }: BrowserPool, { request, project }: AcquireInput, deps: { reportOf: ReportOf }) =>
  request.report_outcome ? deps.reportOf(spec, project.namespace) : undefined;

const results = { held: "granted", timeout: "timeout", full: "refused", draining: "refused" } as const;

/** Whether a pool has fewer browsers than its size, by this replica's copy: some still start, or can't. */
const isShort = (pool: BrowserPool): boolean => {
  const { replicas = 0, starting = 0 } = pool.status ?? {};
  return replicas - starting < presentSize(pool);
};

type Measured = { pool: BrowserPool; project: Project };

const measured = async (
  work: () => Promise<Acquired>,
  { pool, project }: Measured,
  { metrics, pools }: { metrics: ApiMetrics; pools: WatchedObjects<BrowserPool> },
  signal: AbortSignal,
): Promise<Acquired> => {
  const startMs = performance.now();
  let result: AcquireResult = "error";
  let ofPool: PoolAcquireResult = "error";
  try {
    const acquired = await work();
    result = results[acquired.kind];
    ofPool = result === "timeout" && isShort(pools.get(pool.metadata) ?? pool) ? "short" : result;
    return acquired;
  } catch (error) {
    ofPool = failedResult(error, signal);
    result = ofPool === "not_started" ? "refused" : ofPool === "cancelled" ? "cancelled" : "error";
    throw error;
  } finally {
    const seconds = (performance.now() - startMs) / 1000;
    metrics.acquires.inc({ result });
    metrics.acquireWait.observe({ result }, seconds);
    metrics.acquired({ poolUid: pool.metadata.uid, project: project.id }, { result: ofPool, seconds });
  }
};

/**
 * Makes the answer for a lease while its agent binds it. It begins in the next turn of the event loop, after the bind
 * was sent.
 */
const prepareAnswer = (
  lease: LeaseRecord,
  baseUrl: string,
  deps: SessionAnswerDeps,
  signal: AbortSignal,
): Promise<Session> => {
  const answer = nextTurn().then(() => retryBriefly(() => sessionAnswer(lease, baseUrl, deps), signal));
  // Errors are handled after the bind.
  answer.catch(() => undefined);
  return answer;
};

/**
 * Hands out a browser of a pool: at once when one is idle, else when it is the caller's turn; undefined when the wait
 * timed out. `signal`: aborted when the caller is gone; then no browser stays taken.
 */
export const acquireBrowser = async (
  input: AcquireInput,
  deps: AcquireDeps,
  signal: AbortSignal,
): Promise<StartedSession | undefined> => {
  const { idOrName, request, project, keyId, baseUrl } = input;
  const pool = await cachedOrFetchedPool(idOrName, project, deps);
  await checkTelemetry(pool, input, deps);
  requireFeatures({ reportOutcome: request.report_outcome }, deps);
  const poolUid = pool.metadata.uid;
  const owner = { poolUid, session: newSessionId(poolUid) };
  const acquire = async (): Promise<Session | undefined> => {
    const waitSeconds = request.acquire_timeout_seconds ?? defaultAcquireTimeoutSeconds(fillOf(pool.spec));
    let prepared: Promise<Session> | undefined;
    const report = await reportOf(pool, input, deps);
    // Without a place the caller gets a browser that is idle now, or none.
    const place = deps.callerLimits.enterQueue({ keyId, projectId: project.id });
    const wanted = {
      ...owner,
      request: { ...sessionRequest(pool, request, project, deps.config), ...(report && { report }), ...traceOf(deps) },
      waitMs: waitSeconds * 1000,
      // The pool may be changed while the caller waits.
      takesKept: () => (deps.pools.get(pool.metadata) ?? pool).spec.reusePolicy === "keep",
      opensLater: request.profile !== undefined,
      mostWaiting: place ? deps.config.callers.waitingAcquires.project : 0,
      whileBinding(lease: LeaseRecord) {
        prepared = prepareAnswer(lease, baseUrl, deps, signal);
      },
    };
    const failure = startFailureOfPool(pool, deps, signal);
    try {
      const attributes = { "browserpool.project.id": project.id, "browserpool.pool.id": pool.metadata.name };
      const lease = () =>
        traced(deps.tracer, { name: "acquire", attributes }, () => acquireLease(wanted, deps, failure.signal));
      const acquired = await measured(lease, { pool, project }, deps, signal);
      if (acquired.kind === "full") throw queueIsFull(place !== undefined, deps);
      if (acquired.kind === "draining") throw new AppError("not_found", `browser pool ${idOrName} is being deleted`);
      return acquired.kind === "held" ? await answerHeld(prepared, owner, deps, signal) : undefined;
    } finally {
      failure.stop();
      place?.();
    }
  };
  return startSession({ owner, name: request.name, project }, acquire, deps, signal);
};
