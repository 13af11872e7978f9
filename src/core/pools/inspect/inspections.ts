/**
 * Carries out the inspections that rounds request, in a queue of their own: an agent that does not answer for seconds
 * never delays its pool's rounds. At most one inspection of a browser runs at a time.
 *
 * The queue has lanes, so that neither dead agents nor audits delay newcomers, steps that callers wait for, and leases
 * that Redis has lost. An agent that did not answer is asked again in a lane of its own, and one of a silent node
 * (silent-nodes.ts) is asked there the first time.
 */

import { AppError } from "../../../platform/base/errors.ts";
import type { Logger } from "../../../platform/base/log.ts";
import type { RecordEvent } from "../../../platform/kube/event-recorder.ts";
import type { Lead } from "../../../platform/kube/leader-election.ts";
import { keyOf, type Pod } from "../../../platform/kube/objects.ts";
import type { Reflector } from "../../../platform/kube/reflector.ts";
import { type Requeue, startWorkQueue, type WorkMeter } from "../../../platform/kube/work-queue.ts";
import { type Corrected, type InspectDeps, type InspectResult, inspect } from "../../leases/inspect.ts";
import type { NewBrowser } from "../../leases/lease-store.ts";
import type { BrowserPool } from "../../model/pools/browser-pool.ts";
import type { LastInspection } from "../observe/observed.ts";
import type { StartTraces } from "../observe/start-traces.ts";
import type { InspectionLane } from "../plan/next-inspection.ts";
import { whyForeign } from "../pod/own-pod.ts";
import type { PodOwner } from "../pod/pod.ts";
import { createSilentNodes, type NodeAnswer } from "./silent-nodes.ts";

/** What this replica's inspections have found, for the rounds that plan the next ones. */
type InspectionMemory = {
  /** Its times are by `monotonicMs`. */
  lastInspection(podUid: string): LastInspection | undefined;
  isFailing(podUid: string): boolean;
  /**
   * The epoch under which the browser's agent was asked last, whatever it said; 0 for none. Agents of a silent node
   * count as asked.
   */
  askedUnder(podUid: string): number;
  /** The highest epoch that an inspection found in an agent of this pool; 0 for none. */
  agentEpoch(poolUid: string): number;
  noteAsked(podUid: string, epoch: number): void;
  noteResult(of: { podUid: string; poolUid: string; epoch: number }, result: InspectResult): void;
  /** Drops all data of a pod or pool that is gone. */
  forget(uid: string): void;
};

/** Nothing was inspected yet. `monotonicMs`: ms of a clock that is never set. */
export const createInspectionMemory = (monotonicMs: () => number): InspectionMemory => {
  const last = new Map<string, LastInspection>();
  const asked = new Map<string, number>();
  const agentEpochs = new Map<string, number>();
  return {
    lastInspection: (podUid) => last.get(podUid),
    isFailing: (podUid) => (last.get(podUid)?.failures ?? 0) > 0,
    askedUnder: (podUid) => asked.get(podUid) ?? 0,
    agentEpoch: (poolUid) => agentEpochs.get(poolUid) ?? 0,
    noteAsked: (podUid, epoch) => void asked.set(podUid, epoch),
    noteResult({ podUid, poolUid, epoch }, result) {
      const before = last.get(podUid);
      const atMs = monotonicMs();
      if (result.is === "ahead") agentEpochs.set(poolUid, Math.max(result.epoch, agentEpochs.get(poolUid) ?? 0));
      if (result.is === "done") last.set(podUid, { atMs, epoch, failures: 0, failingSinceMs: 0 });
      if (result.is !== "silent") return;
      const failures = (before?.failures ?? 0) + 1;
      const failingSinceMs = failures > 1 ? (before?.failingSinceMs ?? atMs) : atMs;
      last.set(podUid, { atMs, epoch, failures, failingSinceMs });
    },
    forget(uid) {
      last.delete(uid);
      asked.delete(uid);
      agentEpochs.delete(uid);
    },
  };
};

/** Inspections at a time, by lane. An inspection mostly waits. More would cause bursts on the agents' nodes. */
const atOnce: Readonly<Record<InspectionLane | "silent", number>> = {
  newcomer: 16,
  step: 16,
  recovery: 64,
  audit: 16,
  silent: 32,
};

/** When enough agents of a silent node are being asked, the next one waits for this time, ms. */
const crowdedMs = 1000;

/** While Redis does not answer, each browser's inspection is tried again after this time, ms. */
const redisAwayMs = 1000;

type InspectionRequest = { pool: PodOwner; pod: Pod; browser: NewBrowser; epoch: number; lane: InspectionLane };

export type Inspections = Pick<InspectionMemory, "lastInspection" | "askedUnder" | "agentEpoch" | "forget"> & {
  /**
   * Inspects a browser after `afterMs`, or earlier if an earlier request says so. The newest request gives the epoch.
   */
  request(request: InspectionRequest, afterMs: number): void;
  stop(): Promise<void>;
};

const nodeOf = ({ pod }: InspectionRequest): string => pod.spec?.nodeName ?? "";

type InspectionsDeps = Omit<InspectDeps, "check"> & {
  pods: Pick<Reflector<Pod>, "get">;
  dying: ReadonlySet<string>;
  lead: Lead;
  /** An inspection found that the pool needs a round. */
  onPool(pool: BrowserPool): void;
  record: RecordEvent;
  startTraces: Pick<StartTraces, "registered">;
  /**
   * ms of a clock that is never set: it measures how long an agent has been silent, and a browser is replaced for that.
   */
  monotonicMs: () => number;
  /** The name of the queue of inspections. */
  name: string;
  meter: WorkMeter;
  log: Logger;
};

/** Whether nobody waits for what the inspection finds. */
const canWait = ({ lane }: InspectionRequest): boolean => lane !== "newcomer" && lane !== "step";

/** What an inspection says of the node: nothing if it asked no agent, as when Redis has another epoch. */
const nodeAnswers: Readonly<Record<InspectResult["is"], NodeAnswer>> = {
  done: "answered",
  ahead: "answered",
  silent: "silent",
  later: "unknown",
  outdated: "unknown",
};

type ReportDeps = Pick<InspectionsDeps, "record" | "log">;

const noteImpostor = (pool: PodOwner, { pod, address }: NewBrowser, { record, log }: ReportDeps): void => {
  const note = `at ${address} something answers that does not prove to be the agent of browser ${pod}; no caller gets this browser`;
  log.warn({ pool: keyOf(pool.metadata), pod, address }, "an answer did not come from the browser's agent");
  record({ regarding: pool, type: "Warning", reason: "NotGenuine", note });
};

const report = (
  pool: PodOwner,
  { browser, corrected: { why, reason } }: { browser: NewBrowser; corrected: Corrected },
  { record, log }: ReportDeps,
): void => {
  if (why === "Registered") return;
  log.info({ pool: keyOf(pool.metadata), pod: browser.pod, why, reason }, "lease state corrected");
  if (why !== "Retired") return;
  const note = `browser ${browser.pod} is replaced: ${reason}`;
  record({ regarding: pool, type: "Warning", reason: "Suspect", note });
};

/** Starts the queue; nothing is asked of an agent before `ask`. The caller must call `stop`. */
export const startInspections = (deps: InspectionsDeps): Inspections => {
  const requests = new Map<string, InspectionRequest>();
  const memory = createInspectionMemory(deps.monotonicMs);
  const silentNodes = createSilentNodes();

  const isInspectable = ({ pool, pod: { metadata }, browser }: InspectionRequest): boolean => {
    const known = deps.pods.get(metadata);
    if (known?.metadata.uid !== metadata.uid || deps.dying.has(metadata.uid)) return false;
    if (whyForeign(known, pool) !== undefined) return false;
    // The pod was evicted after this request: the next round requests again, with the reason why it must not become
    // idle.
    return !known.metadata.deletionTimestamp || browser.leaving !== undefined;
  };
  const laneOf = (key: string): keyof typeof atOnce => {
    const request = requests.get(key);
    if (!request) return "audit";
    const isSilent = memory.isFailing(key) || (canWait(request) && silentNodes.isSilent(nodeOf(request)));
    return isSilent ? "silent" : request.lane;
  };
  /** A node answers again: its agents that did not answer are asked now. */
  const askAgain = (node: string): void => {
    for (const [key, request] of requests) if (nodeOf(request) === node && memory.isFailing(key)) queue.add(key);
  };
  const inspectOne = async ({ pool, browser, epoch }: InspectionRequest): Promise<InspectResult> => {
    const poolUid = pool.metadata.uid;
    const result = await inspect({ poolUid, epoch, browser }, { ...deps, check: deps.lead.check });
    const isFirstFailure = !memory.isFailing(browser.id);
    memory.noteResult({ podUid: browser.id, poolUid, epoch }, result);
    if (result.is === "silent" && result.isImpostor && isFirstFailure) noteImpostor(pool, browser, deps);
    for (const corrected of result.corrected) report(pool, { browser, corrected }, deps);
    if (result.corrected.some(({ why }) => why === "Registered")) deps.startTraces.registered(pool, browser.id);
    if (result.is === "ahead" || result.is === "outdated" || result.is === "silent") deps.onPool(pool);
    return result;
  };
  const ask = async (request: InspectionRequest): Promise<Requeue | undefined> => {
    const node = nodeOf(request);
    memory.noteAsked(request.browser.id, request.epoch);
    if (!silentNodes.enter(node, canWait(request) || memory.isFailing(request.browser.id)))
      return { requeueAfterMs: crowdedMs };
    let answer: NodeAnswer = "unknown";
    try {
      const result = await inspectOne(request);
      answer = nodeAnswers[result.is];
      return result.is === "later" ? { requeueAfterMs: result.afterMs } : undefined;
    } finally {
      if (silentNodes.leave(node, answer)) askAgain(node);
    }
  };

  const queue = startWorkQueue({
    name: deps.name,
    concurrency: { limits: atOnce, of: laneOf },
    log: deps.log,
    meter: deps.meter,
    async work(key) {
      const request = requests.get(key);
      if (!request || !isInspectable(request) || deps.lead.signal.aborted) return undefined;
      try {
        return await ask(request);
      } catch (error) {
        if (error instanceof AppError && error.code === "unavailable") return { requeueAfterMs: redisAwayMs };
        throw error;
      }
    },
  });
  return {
    ...memory,
    request(request, afterMs) {
      requests.set(request.browser.id, request);
      queue.add(request.browser.id, afterMs);
    },
    forget(uid) {
      requests.delete(uid);
      memory.forget(uid);
    },
    stop: queue.stop,
  };
};
