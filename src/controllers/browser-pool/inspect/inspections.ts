/**
 * Carries out the inspections that rounds request, in a queue of their own: an agent that does not answer for seconds takes up one
 * place of that queue, but never delays its pool's rounds. At most one inspection of a browser runs at a time.
 */
import { AppError } from "../../../errors.ts";
import type { RecordEvent } from "../../../kube/event-recorder.ts";
import type { Lead } from "../../../kube/leader-election.ts";
import type { Pod } from "../../../kube/objects.ts";
import { keyOf } from "../../../kube/objects.ts";
import type { Reflector } from "../../../kube/reflector.ts";
import { type Requeue, startWorkQueue, type WorkMeter } from "../../../kube/work-queue.ts";
import { type Corrected, type InspectDeps, type InspectResult, inspect } from "../../../leases/inspect.ts";
import type { NewBrowser } from "../../../leases/lease-store.ts";
import type { Logger } from "../../../log.ts";
import type { BrowserPool } from "../../../resources/browser-pool.ts";
import type { LastInspection } from "../observe/observed.ts";
import { whyForeign } from "../pod/own-pod.ts";
import type { PodOwner } from "../pod/pod.ts";

/** Inspections at a time. An inspection mostly waits. More would make a recovery faster, but cause bursts on the agents' nodes. */
const concurrency = 32;

/** While Redis does not answer, each browser's inspection is tried again after this time, ms. */
const redisAwayMs = 1000;

export type InspectionRequest = { pool: PodOwner; pod: Pod; browser: NewBrowser; epoch: number };

export type Inspections = {
  /** Inspects a browser after `afterMs`, or earlier if an earlier request says so. The newest request gives the epoch. */
  request(request: InspectionRequest, afterMs: number): void;
  /** Its times are by `monotonicMs`. */
  lastInspection(podUid: string): LastInspection | undefined;
  /** The highest epoch that an inspection found in an agent of this pool; 0 for none. */
  agentEpoch(poolUid: string): number;
  /** Drops all data of a pod or pool that is gone. */
  forget(uid: string): void;
  stop(): Promise<void>;
};

export type InspectionsDeps = Omit<InspectDeps, "check"> & {
  pods: Pick<Reflector<Pod>, "get">;
  dying: ReadonlySet<string>;
  lead: Lead;
  /** An inspection found that the pool needs a round. */
  onPool(pool: BrowserPool): void;
  record: RecordEvent;
  /** ms of a clock that is never set: it measures how long an agent has been silent, and a browser is replaced for that. */
  monotonicMs: () => number;
  /** The name of the queue of inspections. */
  name: string;
  meter: WorkMeter;
  log: Logger;
};

/** Starts the queue; nothing is asked of an agent before `ask`. The caller must call `stop`. */
export const startInspections = (deps: InspectionsDeps): Inspections => {
  const requests = new Map<string, InspectionRequest>();
  const lastInspections = new Map<string, LastInspection>();
  const agentEpochs = new Map<string, number>();

  const isInspectable = ({ pool, pod: { metadata }, browser }: InspectionRequest): boolean => {
    const known = deps.pods.get(metadata);
    if (known?.metadata.uid !== metadata.uid || deps.dying.has(metadata.uid)) return false;
    if (whyForeign(known, pool) !== undefined) return false;
    // The pod was evicted after this request: the next round requests again, with the reason why it must not become idle.
    return !known.metadata.deletionTimestamp || browser.leaving !== undefined;
  };
  const noteImpostor = (pool: PodOwner, { pod, address }: NewBrowser): void => {
    const note = `at ${address} something answers that does not prove to be the agent of browser ${pod}; no caller gets this browser`;
    deps.log.warn({ pool: keyOf(pool.metadata), pod, address }, "an answer did not come from the browser's agent");
    deps.record({ regarding: pool, type: "Warning", reason: "NotGenuine", note });
  };
  const noteResult = ({ pool, browser, epoch }: InspectionRequest, result: InspectResult): void => {
    const before = lastInspections.get(browser.id);
    const atMs = deps.monotonicMs();
    if (result.is === "done") lastInspections.set(browser.id, { atMs, epoch, failures: 0, failingSinceMs: 0 });
    if (result.is !== "silent") return;
    const failures = (before?.failures ?? 0) + 1;
    if (result.isImpostor && failures === 1) noteImpostor(pool, browser);
    lastInspections.set(browser.id, {
      atMs,
      epoch,
      failures,
      failingSinceMs: failures > 1 ? (before?.failingSinceMs ?? atMs) : atMs,
    });
  };
  const report = ({ pool, browser }: InspectionRequest, { why, reason }: Corrected): void => {
    if (why === "Registered") return;
    deps.log.info({ pool: keyOf(pool.metadata), pod: browser.pod, why, reason }, "lease state corrected");
    if (why !== "Retired") return;
    const note = `browser ${browser.pod} is replaced: ${reason}`;
    deps.record({ regarding: pool, type: "Warning", reason: "Suspect", note });
  };
  const inspectOne = async (request: InspectionRequest): Promise<Requeue | undefined> => {
    const { pool, browser, epoch } = request;
    const poolUid = pool.metadata.uid;
    const result = await inspect({ poolUid, epoch, browser }, { ...deps, check: deps.lead.check });
    noteResult(request, result);
    for (const corrected of result.corrected) report(request, corrected);
    if (result.is === "ahead") agentEpochs.set(poolUid, Math.max(result.epoch, agentEpochs.get(poolUid) ?? 0));
    if (result.is === "ahead" || result.is === "outdated" || result.is === "silent") deps.onPool(pool);
    return result.is === "later" ? { requeueAfterMs: result.afterMs } : undefined;
  };

  const queue = startWorkQueue({
    name: deps.name,
    concurrency,
    log: deps.log,
    meter: deps.meter,
    async work(key) {
      const request = requests.get(key);
      if (!request || !isInspectable(request) || deps.lead.signal.aborted) return undefined;
      try {
        return await inspectOne(request);
      } catch (error) {
        if (error instanceof AppError && error.code === "unavailable") return { requeueAfterMs: redisAwayMs };
        throw error;
      }
    },
  });
  return {
    request(request, afterMs) {
      requests.set(request.browser.id, request);
      queue.add(request.browser.id, afterMs);
    },
    lastInspection: (podUid) => lastInspections.get(podUid),
    agentEpoch: (poolUid) => agentEpochs.get(poolUid) ?? 0,
    forget(uid) {
      requests.delete(uid);
      lastInspections.delete(uid);
      agentEpochs.delete(uid);
    },
    stop: queue.stop,
  };
};
