import type { Logger } from "../../../platform/base/log.ts";
import { projectLabel, wireName } from "../../../platform/kinds/identity.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { ObjectGroups } from "../../../platform/kube/object-groups.ts";
import { type Pod, refOf } from "../../../platform/kube/objects.ts";
import { namespaces } from "../../../platform/kube/resource-type.ts";
import type { Requeue } from "../../../platform/kube/work-queue.ts";
import { bindLease } from "../../leases/acquire-lease.ts";
import type { AgentClient } from "../../leases/agent/agent-client.ts";
import type { LeaseStore } from "../../leases/lease-store.ts";
import { recheckChannel } from "../../leases/pool-keys.ts";
import { type Browser, browserKind, endedLifeMs, isOver } from "../../model/browsers/browser.ts";
import { onDemandPoolSpec, onDemandRequest, type ReportOf } from "../../model/browsers/on-demand-pool.ts";
import type { BrowserPool } from "../../model/pools/browser-pool.ts";
import type { SessionNames } from "../../reservations/session-names.ts";
import { sweepAgentKeys } from "../apply/agent-key-secrets.ts";
import { whyForeign } from "../pod/own-pod.ts";
import type { PoolSource } from "../pool-source.ts";
import { type ReconcileDeps, reconcilePool } from "../reconcile.ts";
import { sessionOf } from "./browser-as-pool.ts";
import { isSavePending } from "./save-condition.ts";
import { noteLostSave, type StepSaveDeps, stepSave } from "./step-save.ts";

// Takes an on-demand browser for its session when no API replica does: the browser was applied as YAML, or the replica
// that waited for it has died. The session begins like any other: Redis grants it, the agent binds it.

export type HandOverDeps = {
  kube: Kube;
  store: Pick<LeaseStore, "take" | "reject" | "cancel">;
  agents: Pick<AgentClient, "bind">;
  names: Pick<SessionNames, "reserve">;
  reportOf: ReportOf;
  /** The longest session that the installation allows, s. */
  sessionSeconds: number;
  /** Whether the installation keeps what sessions leave in their folders. */
  keepsFiles: boolean;
  log: Logger;
};

/** For the operator: why the browser of such a session is looked at again. */
const nameTaken = "another session has got the name";

const projectOf = async ({ metadata }: Browser, { kube }: HandOverDeps): Promise<string> => {
  const namespace = await kube.get(namespaces, { name: metadata.namespace });
  return namespace?.metadata.labels?.[projectLabel] ?? "";
};

/**
 * Takes and binds the browser; returns whether the session has begun. If another session has the wanted name, this one
 * begins without a name. Throws `unavailable` when Redis does not answer.
 */
export const handOver = async (browser: Browser, deps: HandOverDeps): Promise<boolean> => {
  const poolUid = browser.metadata.uid;
  const session = sessionOf(browser);
  const { metadata, spec } = browser;
  const project = await projectOf(browser, deps);
  const report = spec.reportOutcome ? await deps.reportOf(onDemandPoolSpec(spec), metadata.namespace ?? "") : undefined;
  const owner = { id: metadata.name, uid: metadata.uid };
  const { sessionSeconds: allowedSeconds, keepsFiles } = deps;
  const context = { owner, name: wireName(browser), project, allowedSeconds, report, keepsFiles };
  const { name, ...request } = onDemandRequest(spec, context);
  const reserveName = async (): Promise<boolean> =>
    name !== undefined && (await deps.names.reserve(request.project, name, { poolUid, session }));
  const isNamed = await reserveName();
  const outcome = await deps.store.take(poolUid, {
    session,
    // No replica waits for a message about this session.
    channel: recheckChannel(poolUid),
    request: JSON.stringify({ ...request, ...(isNamed && { name }) }),
  });
  if (outcome.kind === "granted") {
    // Until its take the session was not alive, so another one may have got its name. The next round begins without it.
    const hasName = !isNamed || (await reserveName());
    const refusal = hasName ? await bindLease(outcome.lease, request, deps) : nameTaken;
    if (refusal === undefined) return true;
    await deps.store.reject(poolUid, outcome.lease, refusal);
  }
  await deps.store.cancel(poolUid, session);
  return false;
};

export type ReconcileOnDemandDeps = ReconcileDeps &
  StepSaveDeps &
  Omit<HandOverDeps, "store" | "names"> & { source: PoolSource<Browser> } & {
    store: ReconcileDeps["store"] & HandOverDeps["store"];
    names: ReconcileDeps["names"] & HandOverDeps["names"];
    /** The browsers that have ended or failed, by their namespace. */
    over: Pick<ObjectGroups<BrowserPool>, "of">;
    /** ms since the epoch. */
    now: () => number;
  };

/** Time until the round that writes a begun session into the status, ms. */
const atOnceMs = 1;

/**
 * A key that is left for longer than this after its browser's end, ms, stays until the browser's object is deleted: a
 * new leader need not look for the keys of a whole day.
 */
const keyLifeMs = 10 * 60_000;

/** Ended and failed browsers that a project keeps, so that starts and ends in a row don't fill the API server. */
const mostEnded = 200;

/** Browsers that one round deletes at most. */
const deletedAtOnce = 10;

/** Deletes the browsers of a namespace that ended longest ago, when it has too many. */
const trimEnded = async (namespace: string, deps: ReconcileOnDemandDeps): Promise<void> => {
  const ended = deps.over
    .of(namespace)
    .filter(({ metadata }) => !metadata.deletionTimestamp)
    .map((one) => deps.source.objectOf(one));
  if (ended.length <= mostEnded) return;
  const endTime = ({ status }: Browser): string => status?.endTime ?? "";
  const oldest = ended.sort((a, b) => (endTime(a) < endTime(b) ? -1 : 1)).slice(0, ended.length - mostEnded);
  for (const { metadata } of oldest.slice(0, deletedAtOnce)) {
    deps.lead.check();
    await deps.kube.delete(browserKind, metadata, { uid: metadata.uid });
  }
};

/** Deletes an ended or failed browser when its day is over; until then only requeues it. */
const expire = async (
  { metadata, status }: Browser,
  pool: BrowserPool,
  deps: ReconcileOnDemandDeps,
): Promise<Requeue> => {
  await trimEnded(metadata.namespace, deps);
  const endedMs = Date.parse(status?.endTime ?? "");
  const leftMs = endedMs + endedLifeMs - deps.now();
  if (endedMs + keyLifeMs > deps.now()) await sweepAgentKeys(pool, deps);
  // Requeue after an hour at most: some timers can't wait a whole day, and a round costs almost nothing.
  if (leftMs > 0) return { requeueAfterMs: Math.min(leftMs, 60 * 60 * 1000) };
  deps.lead.check();
  await deps.kube.delete(browserKind, metadata, { uid: metadata.uid });
  return {};
};

const podsOf = (pool: BrowserPool, { podsByOwner, source }: ReconcileOnDemandDeps): Pod[] =>
  podsByOwner.of(pool.metadata.uid).filter((pod) => whyForeign(pod, { ...pool, ...source.meta }) === undefined);

/** One round for one on-demand browser. Safe to repeat at any point. */
export const reconcileOnDemand = async (key: string, deps: ReconcileOnDemandDeps): Promise<Requeue | undefined> => {
  const known = deps.source.get(refOf(key));
  if (!known) return undefined;
  const browser = deps.source.objectOf(known);
  const isDeleted = known.metadata.deletionTimestamp !== undefined;
  const own = podsOf(known, deps);
  const save = stepSave(browser, own, deps);
  if (isDeleted && own.length === 0) noteLostSave(browser, { ...known, ...deps.source.meta }, deps);
  if (!isDeleted && isOver(browser) && own.length === 0 && !isSavePending(browser)) return expire(browser, known, deps);
  const requeue = await reconcilePool(key, { ...deps, sessionOf: () => sessionOf(browser), save });
  if (isDeleted || isOver(browser) || !(await isIdle(known, deps))) return requeue;
  deps.lead.check();
  await handOver(browser, deps);
  return { requeueAfterMs: atOnceMs };
};

/** The browser is idle, no caller waits for it, and the pool is not recovering. */
const isIdle = async ({ metadata, status }: BrowserPool, { store }: ReconcileOnDemandDeps): Promise<boolean> => {
  if (status?.leaseEpoch === undefined) return false;
  const { browsers, waiting, recoveringSinceMs } = await store.snapshot(metadata.uid);
  return recoveringSinceMs === undefined && waiting === 0 && browsers.some(({ state }) => state === "idle");
};
