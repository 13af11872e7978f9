/**
 * Carries out the looks that rounds ask for, in a queue of their own: an agent that does not answer for seconds holds up a
 * place here, never its pool. One browser is never looked at twice at a time.
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
import type { PodOwner } from "../pod/pod.ts";

/** Looks at a time. Most of a look is waiting; more makes a recovery faster and costs the agents' nodes bursts. */
const concurrency = 32;

/** When Redis is away, ms: it is asked again that often for each browser. */
const redisAwayMs = 1000;

export type InspectionRequest = { pool: PodOwner; pod: Pod; browser: NewBrowser; epoch: number };

export type Inspections = {
  /** Has a browser looked at after this time, ms, or earlier when that was wished before. The newest wish says under which epoch. */
  request(wish: InspectionRequest, afterMs: number): void;
  /** Its times are of `steadyMs`. */
  lastInspection(podUid: string): LastInspection | undefined;
  /** The highest epoch that an agent of this pool was found to know; 0 for none. */
  agentEpoch(poolUid: string): number;
  /** Drops what is known of a pod or a pool that is gone. */
  forget(uid: string): void;
  stop(): Promise<void>;
};

export type InspectionsDeps = Omit<InspectDeps, "check"> & {
  pods: Pick<Reflector<Pod>, "get">;
  dying: ReadonlySet<string>;
  lead: Lead;
  /** A look found that the pool has to be looked over. */
  onPool(pool: BrowserPool): void;
  record: RecordEvent;
  /** ms of a clock that nobody sets: a look says how long an agent has been silent, and that a browser goes for. */
  monotonicMs: () => number;
  /** Of the queue of looks. */
  name: string;
  meter: WorkMeter;
  log: Logger;
};

/** Starts the queue; nothing is asked of an agent before `ask`. The caller must call `stop`. */
export const startInspections = (deps: InspectionsDeps): Inspections => {
  const requests = new Map<string, InspectionRequest>();
  const lastInspections = new Map<string, LastInspection>();
  const agentEpochs = new Map<string, number>();

  const isThere = ({ pod: { metadata }, browser }: InspectionRequest): boolean => {
    const known = deps.pods.get(metadata)?.metadata;
    if (known?.uid !== metadata.uid || deps.dying.has(metadata.uid)) return false;
    // Evicted since this was wished: the round that sees it asks anew, and says that it must not become idle.
    return !known?.deletionTimestamp || browser.leaving !== undefined;
  };
  const noteResult = ({ browser, epoch }: InspectionRequest, result: InspectResult): void => {
    const before = lastInspections.get(browser.id);
    const atMs = deps.monotonicMs();
    if (result.is === "done") lastInspections.set(browser.id, { atMs, epoch, failures: 0, failingSinceMs: 0 });
    if (result.is !== "silent") return;
    const failures = (before?.failures ?? 0) + 1;
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
  const inspectOne = async (wish: InspectionRequest): Promise<Requeue | undefined> => {
    const { pool, browser, epoch } = wish;
    const poolUid = pool.metadata.uid;
    const result = await inspect({ poolUid, epoch, browser }, { ...deps, check: deps.lead.check });
    noteResult(wish, result);
    for (const corrected of result.corrected) report(wish, corrected);
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
      const wish = requests.get(key);
      if (!wish || !isThere(wish) || deps.lead.signal.aborted) return undefined;
      try {
        return await inspectOne(wish);
      } catch (error) {
        if (error instanceof AppError && error.code === "unavailable") return { requeueAfterMs: redisAwayMs };
        throw error;
      }
    },
  });
  return {
    request(wish, afterMs) {
      requests.set(wish.browser.id, wish);
      queue.add(wish.browser.id, afterMs);
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
