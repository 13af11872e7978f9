import { failedCreate, setupRefused } from "../../../platform/kinds/conditions.ts";
import type { BrowserPoolStatus } from "../../model/pools/browser-pool.ts";
import { presentSize } from "../../model/pools/pool-size.ts";
import { conditionsOf, type Draft } from "../../reconcile/conditions.ts";
import type { Observed, ObservedPod } from "../observe/observed.ts";
import { podSelector } from "../pod/pod.ts";
import { chromiumVersions } from "./chromium-versions.ts";
import { waitingForSetup, whySetupWaits } from "./deliveries.ts";
import { isInUse, isUnscheduled } from "./pod-life.ts";
import { versionText } from "./profile-use.ts";
import { recoveryProgress } from "./recovery-progress.ts";
import { scalingDrafts } from "./scaling.ts";

export type RoundOutcome = {
  nowMs: number;
  failedStarts: number;
  nextStartTime: string | undefined;
};

/**
 * The size that the operator keeps: the spec's or that of autoscale, or the one that was accepted last while the spec
 * is refused.
 */
export const keptSize = ({ pool, refusal, scaling }: Pick<Observed, "pool" | "refusal" | "scaling">): number =>
  refusal ? (pool.status?.acceptedSize ?? 0) : (scaling?.size ?? presentSize(pool));

/** Whether the spec is in force. */
export const accepted = ({ refusal }: Pick<Observed, "refusal">): Draft =>
  refusal
    ? { type: "Accepted", status: false, ...refusal }
    : { type: "Accepted", status: true, reason: "Accepted", message: "the configuration is in force" };

const browsers = (count: number): string => `${count} browser${count === 1 ? "" : "s"}`;

/** Why the API server creates no pods, once users are told; undefined: it does. */
export const startRefusal = ({ refusedCreation }: Pick<Observed, "refusedCreation">): string | undefined =>
  refusedCreation?.isShown ? `no browser is started: ${refusedCreation.message}` : undefined;

const startsRefused = (message: string, why: string) => ({ reason: failedCreate, message: `${message}; ${why}` });

/**
 * What Chromium did not take of the setup of a browser that has ended, as its agent said; undefined: none ended by
 * that.
 */
export const refusedSetup = ({ pods, configHash }: Pick<Observed, "pods" | "configHash">): string | undefined => {
  const { state } = pods.find((pod) => pod.configHash === configHash && isSetupRefused(pod)) ?? {};
  return state?.is === "ended" ? state.message : undefined;
};

const isSetupRefused = ({ state }: ObservedPod): boolean => state.is === "ended" && state.reason === "setup_refused";

/** The same for a pool: it is kept until a start succeeds, or the configuration changes. */
const keptRefusal = (observed: Observed, { failedStarts }: RoundOutcome): string | undefined => {
  if (failedStarts === 0) return undefined;
  const { metadata, status } = observed.pool;
  const told = status?.conditions.find(({ type }) => type === "Progressing");
  const isOfThis = told?.reason === setupRefused && told.observedGeneration === metadata.generation;
  return refusedSetup(observed) ?? (isOfThis ? told.message : undefined);
};

const ready = (observed: Observed, outcome: RoundOutcome, up: number, isOnItsWay: boolean): Draft => {
  const { refusal, pool, scaling } = observed;
  const size = keptSize(observed);
  const type = "Ready";
  if (pool.metadata.deletionTimestamp)
    return { type, status: false, reason: "Deleting", message: "the pool is drained" };
  const message = `${up} of ${browsers(size)} up`;
  if (refusal) {
    // Those that run go on, as the configuration that was accepted last.
    const others = size === 0 ? "" : `; ${message} with the configuration that was accepted last`;
    return { type, status: false, reason: refusal.reason, message: `${refusal.message}${others}` };
  }
  if (up >= size) return { type, status: true, reason: "Filled", message };
  const refused = startRefusal(observed);
  const setup = keptRefusal(observed, outcome);
  // A pool that grows by itself is not out of order meanwhile.
  return up >= (scaling?.min ?? size)
    ? { type, status: true, reason: "MinimumAvailable", message }
    : {
        ...{ type, status: false, reason: "Filling", message },
        ...(setup && { reason: setupRefused, message: `${message}; ${setup}` }),
        ...(refused && startsRefused(message, refused)),
        ...(isOnItsWay && { outlook: "Reconciling" as const }),
      };
};

/** Tells users what the deletion waits for. */
const draining = ({ pods }: Observed): string => {
  const inUse = pods.filter(isInUse).length;
  if (inUse === 0) return "destroying the browsers";
  return `waiting for ${browsers(inUse)} in use; annotate browserpool.dev/force-delete=true to end them at once`;
};

/** How far a recovery is, in quarters: each change is a write for each pool. Undefined: there is none. */
const recovering = (observed: Observed): string | undefined => {
  const progress = recoveryProgress(observed);
  if (!progress || progress.asked === progress.of) return undefined;
  const percent = Math.floor((progress.asked / progress.of) * 4) * 25;
  return `Redis has lost data: ${percent} % or more of ${browsers(progress.of)} were asked for their leases`;
};

const progressing = (observed: Observed, outcome: RoundOutcome, up: number): Draft => {
  const { failedStarts } = outcome;
  const type = "Progressing";
  const { pool, refusal } = observed;
  const size = keptSize(observed);
  if (pool.metadata.deletionTimestamp) return { type, status: true, reason: "Draining", message: draining(observed) };
  if (refusal) return { type, status: false, ...refusal };
  const recovery = recovering(observed);
  if (recovery !== undefined) return { type, status: true, reason: "Recovering", message: recovery };
  if (up >= size) return { type, status: false, reason: "Filled", message: `all ${browsers(size)} up` };
  if (observed.waitsFor !== undefined)
    return { type, status: true, reason: "WaitingForProject", message: observed.waitsFor };
  if (pool.spec.fillRatePerMinute === 0)
    return { type, status: false, reason: "Paused", message: "fillRatePerMinute is 0: no browser is started" };
  const refused = startRefusal(observed);
  if (refused !== undefined) return { type, status: true, ...startsRefused("tried again later", refused) };
  const setup = keptRefusal(observed, outcome);
  if (setup !== undefined) return { type, status: true, reason: setupRefused, message: setup };
  if (failedStarts > 0)
    return {
      type,
      status: true,
      reason: "BackingOff",
      message: `${failedStarts} starts failed in a row; see the events`,
    };
  const unscheduled = observed.pods.filter(isUnscheduled).length;
  if (unscheduled > 0)
    return {
      type,
      status: true,
      reason: "Unschedulable",
      message: `no node for ${browsers(unscheduled)} yet; see the events of the pods`,
    };
  const waits = whySetupWaits(observed, type);
  if (waits !== undefined) return { type, status: true, reason: waitingForSetup, message: waits };
  return { type, status: true, reason: "Filling", message: `starting ${browsers(size - up)} at the fill rate` };
};

/**
 * The status of the pool after this round, pure. Equal inputs give equal statuses, so an unchanged pool causes no
 * write.
 */
export const poolStatus = (observed: Observed, outcome: RoundOutcome): BrowserPoolStatus => {
  const count = (is: (pod: ObservedPod) => boolean): number => observed.pods.filter(is).length;
  const idle = (pod: ObservedPod): boolean => pod.state.is === "known" && pod.browser?.state === "idle";
  const available = count(idle);
  const acquired = count(({ browser }) => browser?.state === "leased");
  const up = available + count(isInUse);
  const progress = progressing(observed, outcome, up);
  const drafts = [
    accepted(observed),
    ready(observed, outcome, up, progress.status),
    progress,
    ...scalingDrafts(observed),
  ];
  const acceptedSize = observed.refusal ? observed.pool.status?.acceptedSize : keptSize(observed);
  const versions = chromiumVersions(observed.pods);
  return {
    observedGeneration: observed.pool.metadata.generation ?? 0,
    conditions: conditionsOf(observed.pool, drafts, outcome.nowMs),
    replicas: count(({ state }) => state.is !== "ended" && state.is !== "terminating"),
    available,
    acquired,
    waiting: observed.leases.waiting,
    starting: count(({ state }) => state.is === "starting" || state.is === "warm"),
    outdatedPods: count(({ state, isOutdated }) => isOutdated && state.is !== "ended" && state.is !== "terminating"),
    outdated: count((pod) => idle(pod) && pod.configHash !== observed.configHash),
    ...(versions.length > 0 && { chromiumVersions: versions }),
    selector: podSelector(observed.pool.metadata.uid),
    failedStarts: outcome.failedStarts,
    ...(observed.pool.status?.leaseEpoch !== undefined && { leaseEpoch: observed.pool.status.leaseEpoch }),
    ...(observed.profileVersion && { profileVersion: versionText(observed.profileVersion) }),
    ...(outcome.nextStartTime && { nextStartTime: outcome.nextStartTime }),
    ...(acceptedSize !== undefined && { acceptedSize }),
    ...(observed.pool.spec.discardIdle && { discardedToken: observed.pool.spec.discardIdle }),
  };
};
