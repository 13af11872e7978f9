import { AppError, invalidInput } from "../../platform/base/errors.ts";
import { refusalIn, startFailureIn } from "../../platform/kinds/conditions.ts";
import { wireName } from "../../platform/kinds/identity.ts";
import { drainFinalizer } from "../../platform/kinds/kind.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { retryBriefly } from "../../platform/redis/or-unavailable.ts";
import { traced } from "../../platform/tracing/tracer.ts";
import type { AbandonedSessions } from "../leases/abandoned-sessions.ts";
import { acquireLease } from "../leases/acquire-lease.ts";
import type { PoolAcquireResult } from "../metrics/acquire-metrics.ts";
import type { ApiMetrics } from "../metrics/api-metrics.ts";
import {
  type Browser,
  type BrowserSpec,
  browserKind,
  heldSaveAnnotation,
  isOver,
  traceAnnotation,
} from "../model/browsers/browser.ts";
import { newBrowserSpec } from "../model/browsers/browser-requests.ts";
import type { CreateBrowser } from "../model/browsers/browser-wire.ts";
import { onDemandPoolSpec, onDemandRequest } from "../model/browsers/on-demand-pool.ts";
import { sessionTooLong } from "../model/sessions/session-wire.ts";
import { type Reference, referencesOf } from "../model/settings/references.ts";
import { newId } from "../objects/new-id.ts";
import { requireReferences } from "../objects/references.ts";
import { requireFeatures } from "../objects/require-features.ts";
import type { WatchedObjects } from "../objects/watched-objects.ts";
import type { Project } from "../projects/projects.ts";
import { reserveSessionName, type SessionNames } from "../reservations/session-names.ts";
import type { AbandonedBrowsers } from "./abandoned-browsers.ts";
import { failedResult } from "./failed-result.ts";
import { noRoom, type RoomDeps, reserveRoom } from "./reserve-room.ts";
import { type HandOutDeps, serveFromPool } from "./serve-from-pool.ts";
import { sessionAnswer } from "./session-answer.ts";
import type { StartBlankDeps } from "./start-blank.ts";
import { notStarted, type StartFailure, startFailureError } from "./start-failure.ts";
import type { StartedSession } from "./start-session.ts";
import { traceOf } from "./trace-of.ts";

/** Longest wait for a browser, ms. The operator gives a start up after three minutes and reports the reason. */
const startWaitMs = 185_000;

/** The references of a spec. A proxy that was given as `proxy: {id}` is named that way. */
const referencesAsGiven = ({ proxy }: CreateBrowser, spec: BrowserSpec): Reference[] =>
  referencesOf(spec).map((reference) =>
    proxy?.id && reference.path[0] === "proxyId" ? { ...reference, path: ["proxy", "id"] } : reference,
  );

/**
 * Aborted when the operator reports that the browser is refused, failed, ended or can't be made, or when the object is
 * deleted.
 */
const failureOf = (made: Browser, deps: { browsers: WatchedObjects<Browser>; metrics: ApiMetrics }): StartFailure => {
  const failed = new AbortController();
  const { uid } = made.metadata;
  const look = (browser: Browser): void => {
    const refusal = refusalIn(browser.status?.conditions);
    const failure = startFailureIn(browser.status?.conditions);
    // The operator's copies may be a moment behind: the request has asked for the objects that it refers to.
    if (refusal && refusal.reason !== "ReferenceNotFound") failed.abort(noRoom(refusal.message, deps));
    else if (failure) failed.abort(startFailureError(failure));
    else if (isOver(browser)) failed.abort(notStarted(browser.status?.message ?? "it ended at once"));
    else if (browser.metadata.deletionTimestamp) failed.abort(notStarted("it was deleted"));
  };
  const stop = deps.browsers.listen(uid, look);
  // The watch may have shown the operator's word before this process had the answer to its own write.
  const known = deps.browsers.get(made.metadata);
  if (known?.metadata.uid === uid) look(known);
  return { signal: failed.signal, stop };
};

/** Deletes the browser, its name and its session, in the background what fails at first. */
const undo = async (
  browser: Browser,
  {
    kube,
    names,
    abandonedSessions,
    abandonedBrowsers,
  }: { abandonedBrowsers: AbandonedBrowsers; abandonedSessions: AbandonedSessions; kube: Kube; names: SessionNames },
  project: Project,
): Promise<void> => {
  const { metadata, spec } = browser;
  const poolUid = metadata.uid;
  abandonedSessions.add(poolUid, metadata.name);
  if (spec.name) await names.free(project.id, spec.name, { poolUid, session: metadata.name }).catch(() => undefined);
  await retryBriefly(() => kube.delete(browserKind, metadata, { uid: poolUid })).catch(() =>
    abandonedBrowsers.add(metadata),
  );
};

/** What giving out a browser needs. */
export type CreateDeps = HandOutDeps & StartBlankDeps & RoomDeps & { abandonedBrowsers: AbandonedBrowsers };

/**
 * `forLogin`: a stored login is typed into the browser. So its session needs the same permission as one with vaults, and
 * its state is thrown away unless it is wanted later.
 */
type CreateInput = { request: CreateBrowser; project: Project; baseUrl: string; forLogin?: boolean };

/** Counts what comes of a request for a browser. */
const measured = async <T>(
  work: () => Promise<T>,
  { project }: CreateInput,
  { metrics }: CreateDeps,
  signal: AbortSignal,
): Promise<T> => {
  const startMs = performance.now();
  let result: PoolAcquireResult = "granted";
  try {
    return await work();
  } catch (error) {
    result = failedResult(error, signal);
    throw error;
  } finally {
    const seconds = (performance.now() - startMs) / 1000;
    metrics.acquired({ poolUid: undefined, project: project.id }, { result, seconds });
  }
};

/**
 * Gives out a browser for one session, of a pool that serves on demand or started now, and returns when its lease is
 * bound. Throws `bad_request`, `not_found` for a reference, `name_taken`, `too_many_requests`, and
 * `browser_not_started` with the reason. `signal`: aborted when the caller is gone; then it undoes everything.
 */
export const createBrowser = async (
  input: CreateInput,
  deps: CreateDeps,
  signal: AbortSignal,
): Promise<StartedSession> => {
  const { request, project } = input;
  const created = newBrowserSpec(request);
  if (!created.ok) throw invalidInput(created.problems);
  const { spec } = created;
  requireFeatures(spec, deps);
  const tooLong = sessionTooLong(spec, deps.config.limits.sessionSeconds);
  if (tooLong) throw invalidInput([tooLong]);
  await requireReferences(referencesAsGiven(request, spec), project, deps);
  return measured(() => giveOut(spec, input, deps, signal), input, deps, signal);
};

const giveOut = async (
  spec: BrowserSpec,
  { project, baseUrl, forLogin = false }: CreateInput,
  deps: CreateDeps,
  signal: AbortSignal,
): Promise<StartedSession> => {
  const served = forLogin ? undefined : await serveFromPool({ spec, project, baseUrl }, deps, signal);
  deps.metrics.onDemand.inc({ source: served?.from ?? "start" });
  if (served) return served.started;
  // With its finalizer, which the operator would else add before it starts anything.
  const { trace } = traceOf(deps);
  const annotations = {
    ...(trace !== undefined && { [traceAnnotation]: trace }),
    ...(forLogin && { [heldSaveAnnotation]: "true" }),
  };
  const metadata = { name: newId(), namespace: project.namespace, finalizers: [drainFinalizer], annotations };
  const free = await reserveRoom(metadata.name, project, deps);
  const browser = await deps.kube.create(browserKind, { metadata, spec }).catch(async (error: unknown) => {
    // Then nobody knows whether it is there.
    if (error instanceof AppError && error.code === "unavailable")
      deps.abandonedBrowsers.add(metadata, { inDoubt: true });
    await free();
    throw error;
  });
  deps.browsers.put(browser);
  const owner = { poolUid: browser.metadata.uid, session: browser.metadata.name };
  const allowedSeconds = deps.config.limits.sessionSeconds;
  const keepsFiles = deps.config.keptFiles.seconds > 0;
  const failure = failureOf(browser, deps);
  const reserveName = () => reserveSessionName(spec.name, { owner, projectId: project.id }, deps, signal);
  try {
    await reserveName();
    const report = spec.reportOutcome ? await deps.reportOf(onDemandPoolSpec(spec), project.namespace) : undefined;
    const wanted = {
      ...owner,
      request: {
        ...onDemandRequest(spec, {
          owner: { id: owner.session, uid: owner.poolUid },
          name: wireName(browser),
          ...{ project: project.id, allowedSeconds, report, keepsFiles },
        }),
        ...(forLogin && { with_vaults: true }),
        ...traceOf(deps),
      },
      waitMs: startWaitMs,
    };
    const until = AbortSignal.any([signal, failure.signal]);
    const attributes = { "browserpool.project.id": project.id };
    const acquired = await traced(deps.tracer, { name: "acquire", attributes }, () =>
      acquireLease(wanted, deps, until),
    );
    if (acquired.kind !== "held") throw notStarted("it was not up in time");
    // Until its take the session was not alive, so another caller may have got its name.
    await reserveName();
    const session = await retryBriefly(() => sessionAnswer(acquired.lease, baseUrl, deps), signal);
    signal.throwIfAborted();
    if (session.telemetry) deps.telemetry.collector.collect(owner);
    if (keepsFiles) deps.keptFiles.collector.collect(owner);
    return { session, abandon: () => void undo(browser, deps, project) };
  } catch (error) {
    await undo(browser, deps, project);
    await free();
    throw error;
  } finally {
    failure.stop();
  }
};
