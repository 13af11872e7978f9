import type { ObjectGroups } from "../../../platform/kube/object-groups.ts";
import { type Pod, refOf } from "../../../platform/kube/objects.ts";
import type { Requeue } from "../../../platform/kube/work-queue.ts";
import { type Browser, browserKind, endedLifeMs, isOver } from "../../model/browsers/browser.ts";
import type { BrowserPool } from "../../model/pools/browser-pool.ts";
import { sweepAgentKeys } from "../apply/agent-key-secrets.ts";
import { whyForeign } from "../pod/own-pod.ts";
import type { PoolSource } from "../pool-source.ts";
import { type ReconcileDeps, reconcilePool } from "../reconcile.ts";
import { sessionOf } from "./browser-as-pool.ts";
import { type HandOverDeps, handOver } from "./hand-over.ts";
import { isSavePending } from "./save-condition.ts";
import { noteLostSave, type StepSaveDeps, stepSave } from "./step-save.ts";

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
 * A key that is left for longer than this after its browser's end, ms, stays until the browser's object is deleted: a new leader need
 * not look for those of a whole day.
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
  if (endedMs + keyLifeMs > deps.now()) await sweepAgentKeys(pool, [], deps);
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
