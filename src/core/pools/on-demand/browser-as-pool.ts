/**
 * An on-demand browser as the pool loop sees it: a pool of one browser, which starts once.
 *
 *   Starting ──its session was bound──► Active ──released, timed out, crashed, pod gone──► Ended
 *      └──────its pod ended before, or was not ready in time──► Failed
 *
 * An API replica that waits for the browser gets it as from any pool. When no replica waits, as for a browser applied
 * as YAML, the operator takes it for its session (reconcile-on-demand.ts). Ended and failed browsers can be read for a
 * day; then the operator deletes them.
 */

import { failedCreate, setupRefused, startFailureIn } from "../../../platform/kinds/conditions.ts";
import type { KubeObject } from "../../../platform/kube/objects.ts";
import { type Browser, type BrowserStatus, browserKind, isOver } from "../../model/browsers/browser.ts";
import { onDemandPoolSpec } from "../../model/browsers/on-demand-pool.ts";
import type { BrowserPool, BrowserPoolStatus } from "../../model/pools/browser-pool.ts";
import { conditionsOf, type Draft } from "../../reconcile/conditions.ts";
import type { Observed, ObservedPod } from "../observe/observed.ts";
import { waitingForSetup, whySetupWaits } from "../plan/deliveries.ts";
import { startDeadlineMs } from "../plan/starts.ts";
import { accepted, refusedSetup, startRefusal } from "../plan/status.ts";
import type { PoolView } from "../pool-source.ts";
import { saveDrafts } from "./save-condition.ts";

/** A fill rate, percent a minute, that does not delay the one start. */
const atOnce = 6000;

const toPool = ({ metadata, spec, status }: Browser): BrowserPool => {
  const over = isOver({ metadata, spec, ...(status && { status }) });
  const annotations = { ...metadata.annotations, "browserpool.dev/force-delete": "true" };
  return {
    metadata: { ...metadata, annotations },
    spec: {
      ...onDemandPoolSpec(spec),
      size: over ? 0 : 1,
      fillRatePerMinute: status?.pod ? 0 : atOnce,
    },
    ...(status && {
      status: {
        ...emptyStatus,
        conditions: status.conditions,
        ...epochOf(status),
        ...(status.pod && { acceptedSize: over ? 0 : 1 }),
      },
    }),
  };
};

/** Whether the browser behind this pool has ended or failed. */
export const isOverAsPool = ({ spec }: Pick<BrowserPool, "spec">): boolean => spec.size === 0;

const emptyStatus: Omit<BrowserPoolStatus, "conditions"> = {
  replicas: 0,
  available: 0,
  acquired: 0,
  waiting: 0,
  starting: 0,
  outdated: 0,
  outdatedPods: 0,
  failedStarts: 0,
};

const epochOf = ({ leaseEpoch }: { leaseEpoch?: number | undefined }) =>
  leaseEpoch === undefined ? {} : { leaseEpoch };

type Phase = Pick<BrowserStatus, "phase" | "endReason" | "message" | "endTime">;

const time = (ms: number): string => new Date(ms).toISOString();

const mayRun = ({ state }: ObservedPod): boolean => state.is !== "ended" && state.is !== "terminating";

const whyFailed = ({ pods }: Observed): string => {
  const ended = pods.find(({ state }) => state.is === "ended")?.state;
  if (ended?.is === "ended") return `the browser did not start: ${ended.message}`.slice(0, 1024);
  return `the browser was not ready after ${startDeadlineMs / 1000} s, or its pod was deleted`;
};

const phaseOf = ({ status }: Browser, observed: Observed): Phase => {
  const { phase = "Starting", endReason, message, endTime } = status ?? {};
  if (phase === "Ended" || phase === "Failed")
    return { phase, ...(endReason && { endReason }), ...(message && { message }), ...(endTime && { endTime }) };
  const { ended, leases, pods } = observed;
  if (ended)
    return { phase: "Ended", endReason: ended.reason ?? "unknown", endTime: time(ended.ended_at ?? leases.nowMs) };
  if (leases.browsers.some(({ state }) => state === "leased")) return { phase: "Active" };
  const isGone = status?.pod !== undefined && !pods.some(mayRun) && observed.pendingCreations === 0;
  if (!isGone) return { phase };
  if (phase === "Active") return { phase: "Ended", endReason: "browser_lost", endTime: time(leases.nowMs) };
  return { phase: "Failed", message: whyFailed(observed), endTime: time(leases.nowMs) };
};

const texts: Record<BrowserStatus["phase"], string> = {
  Starting: "the browser starts",
  Active: "the session is active",
  Ended: "the session has ended",
  Failed: "the browser could not be started",
};

/** Its pod is gone by then. */
const isToldRefused = (status: Browser["status"]): boolean =>
  startFailureIn(status?.conditions)?.reason === setupRefused;

/** Whether a browser that is not ready becomes it by itself. */
const outlooks: { [phase in BrowserStatus["phase"]]?: Draft["outlook"] } = {
  Starting: "Reconciling",
  Failed: "Stalled",
};

/** What a browser waits for that would start. */
const whyWaiting = ({ status }: Browser, observed: Observed): Pick<Draft, "reason" | "message"> | undefined => {
  if (observed.waitsFor !== undefined) return { reason: "WaitingForProject", message: observed.waitsFor };
  const refused = status?.pod === undefined ? startRefusal(observed) : undefined;
  if (refused !== undefined) return { reason: failedCreate, message: refused };
  const setup = whySetupWaits(observed, "Ready");
  return setup === undefined ? undefined : { reason: waitingForSetup, message: setup };
};

const readyDraft = (browser: Browser, { phase, endReason, message }: Phase, observed: Observed): Draft => {
  const ready = { type: "Ready", status: phase === "Active", outlook: outlooks[phase] };
  if ((phase === "Starting" || phase === "Active") && observed.refusal)
    return { ...ready, status: false, ...observed.refusal };
  const waiting = phase === "Starting" ? whyWaiting(browser, observed) : undefined;
  return {
    ...ready,
    reason: phase === "Failed" && (refusedSetup(observed) || isToldRefused(browser.status)) ? setupRefused : phase,
    message: message ?? (endReason ? `${texts[phase]}: ${endReason}` : texts[phase]),
    ...waiting,
  };
};

const withStatus = (browser: Browser, status: BrowserPoolStatus, observed: Observed): Browser => {
  const phase = phaseOf(browser, observed);
  const pod = browser.status?.pod ?? observed.pods[0]?.name;
  const drafts = [
    accepted(observed),
    readyDraft(browser, phase, observed),
    ...saveDrafts(browser, observed, phase.phase),
  ];
  return {
    ...browser,
    status: {
      observedGeneration: browser.metadata.generation ?? 0,
      conditions: conditionsOf(browser, drafts, observed.leases.nowMs),
      ...phase,
      ...(pod && { pod }),
      ...epochOf(status),
    },
  };
};

/** How the pool loop reads and writes on-demand browsers. */
export const onDemandView: PoolView<Browser> = { type: browserKind, toPool, withStatus };

/** The id of the browser's session: the object's own name. */
export const sessionOf = ({ metadata }: KubeObject): string => metadata.name;
