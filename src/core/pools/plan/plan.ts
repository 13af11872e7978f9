/**
 * The decision of the pool loop, pure: from `Observed` and the time to named actions and the next status
 * (docs/design.md, Laws).
 *
 * Rules, in the order of the code below:
 *   0. Redis and the status disagree about the epoch: raise it, and do nothing else, since the records may be incomplete.
 *   1. Close a record whose pod is gone or has ended; its lease ends with the reason. Delete ended pods. Such losses are noted before
 *      rounds, too (apply/note-losses.ts).
 *   2. Delete a browser that no caller may get any more (retired, not answering its probe, starting on a leaving node).
 *      Retire a browser that must leave when it is idle, or as soon as it would become idle (leaving.ts).
 *   3. Inspect browsers when it is time (next-inspection.ts): this registers a warm pod. Redis may have forgotten a warm browser
 *      that is in use, so do nothing else to it before its inspection, unless its agent does not answer for long.
 *   4. A new `discardIdle` token retires the browsers that are idle now; as many are rebuilt at once, unpaced. So are idle browsers that
 *      former holders have left as they stand, when the pool's `reusePolicy` has become `reset`.
 *   5. More than `size` alive: delete starting ones, then idle ones (outdated first), never one in use.
 *   6. Fewer than `size` alive: start browsers (starts.ts). When the pool is full, drop the remaining unpaced starts: kept, they
 *      would exceed the rate later.
 *   7. Full, with browsers of an earlier image or pod template: replace one of them whenever a start is due (rollout.ts).
 *      Idle browsers whose profile has newer contents go, too (profile-use.ts).
 *   8. Have browsers that wait for their setup given it (deliveries.ts), once the browser before them is saved to their profile. One
 *      whose configuration has changed meanwhile goes.
 *   9. Mark the pods of browsers in use, for PodDisruptionBudgets and Cluster Autoscaler (in-use-marks.ts). With `idleCpu`, have
 *      marked pods ask for more of the processor than others (cpu-requests.ts).
 * A pod counts as alive until its process is surely gone, so a pool never runs more than `size` browsers.
 */
import type { BrowserRecord, EndReason } from "../../leases/records.ts";
import type { Observed, ObservedPod } from "../observe/observed.ts";
import { endGraceSeconds, savedProfileUid } from "../pod/pod.ts";
import type { DeleteReason, Deletion, PoolAction, PoolPlan } from "./actions.ts";
import { resizes } from "./cpu-requests.ts";
import { deliveries } from "./deliveries.ts";
import { marks } from "./in-use-marks.ts";
import { drainDeadline, isDrained, isLostWithNode, leavesAtOnce, leaving, startsOnLeavingNode } from "./leaving.ts";
import { lossReason } from "./losses.ts";
import { isAlive, isFailing, isInUse, timeMs } from "./pod-life.ts";
import { profileRefresh, profileUse } from "./profile-use.ts";
import { inspections, isUnreachable, nextEpoch, planRaise, recovery, unreachableMs } from "./recovery.ts";
import { rollout, rolloutEvents } from "./rollout.ts";
import { scalingEvents } from "./scaling.ts";
import { isFailedStart, isLate, nextFailedStarts, nextSlot, resyncMs, startDeadlineMs, starts } from "./starts.ts";
import { keptSize, poolStatus } from "./status.ts";

/** Rule 1: why to close a browser's record and end its lease; undefined to keep it. */
const closeReason = (
  browser: BrowserRecord,
  pod: ObservedPod | undefined,
  observed: Observed,
  nowMs: number,
): EndReason | undefined => {
  const loss = lossReason(browser, pod);
  if (loss || !pod) return loss;
  const { state } = pod;
  if (isDrained(pod, observed, nowMs)) return "node_drained";
  if (isLostWithNode(pod, nowMs) || (state.is === "evicted" && !isAlive(pod, nowMs))) return "browser_lost";
  const isOver = state.is === "terminating" && browser.state !== "retired" && browser.state !== "suspect";
  return isOver ? "pod_deleted" : undefined;
};

const closings = (observed: Observed, nowMs: number): PoolAction[] => {
  const { pods, leases } = observed;
  const byUid = new Map(pods.map((pod) => [pod.uid, pod]));
  return leases.browsers.flatMap((browser): PoolAction[] => {
    const why = closeReason(browser, byUid.get(browser.id), observed, nowMs);
    return why ? [{ do: "close", browser: browser.id, why }] : [];
  });
};

/** The pod is being deleted with a longer grace period than the operator's. */
const mayEndSooner = ({ state, browser, pod }: ObservedPod, nowMs: number): boolean =>
  state.is === "terminating" &&
  browser?.state === "retired" &&
  savedProfileUid(pod) === undefined &&
  timeMs(pod.metadata.deletionTimestamp) - nowMs > 2 * endGraceSeconds * 1000;

/** Rules 1 and 2: why to delete a pod now; undefined to keep it. */
const deleteReason = (pod: ObservedPod, observed: Observed, nowMs: number): DeleteReason | undefined => {
  const { state, browser } = pod;
  if (state.is === "ended") return isFailedStart(pod) ? "FailedStart" : "Ended";
  if (isLostWithNode(pod, nowMs)) return "NodeLost";
  if (isDrained(pod, observed, nowMs)) return "NodeLeaving";
  if (state.is === "evicted" || (state.is === "terminating" && !mayEndSooner(pod, nowMs))) return undefined;
  if (browser?.state === "retired") return "Retired";
  if (isUnreachable(pod, nowMs)) return "Unreachable";
  if (startsOnLeavingNode(pod)) return "NodeLeaving";
  if (pod.setup?.is === "outdated") return "Outdated";
  return isLate(pod, nowMs) ? "StartDeadlineExceeded" : undefined;
};

const deletions = (observed: Observed, nowMs: number): Deletion[] =>
  observed.pods.flatMap((pod) => {
    const why = deleteReason(pod, observed, nowMs);
    return why ? [{ do: "delete", pod, why }] : [];
  });

const isEnding = ({ state }: ObservedPod): boolean => state.is === "terminating" || state.is === "evicted";

/** Rule 5: the order in which surplus pods are deleted. */
const bySurplusOrder =
  (currentHash: string) =>
  (a: ObservedPod, b: ObservedPod): number => {
    const rank = ({ state, configHash, isOutdated }: ObservedPod): number => {
      if (state.is === "starting") return 0;
      if (state.is === "warm") return 1;
      return configHash === currentHash && !isOutdated ? 3 : 2;
    };
    return rank(a) - rank(b) || (a.browser?.since ?? 0) - (b.browser?.since ?? 0);
  };

/**
 * A chosen warm pod is not deleted yet: it counts, so that no idle one is retired in its place, and goes once it is
 * registered.
 */
const shrink = (candidates: ObservedPod[], surplus: number, currentHash: string): PoolAction[] => {
  const order = candidates.filter((pod) => !isInUse(pod)).sort(bySurplusOrder(currentHash));
  const chosen = order.slice(0, Math.max(0, surplus));
  const idle = order.filter(({ state }) => state.is === "known").map(({ uid }) => uid);
  const idleCount = chosen.filter(({ state }) => state.is === "known").length;
  return [
    ...chosen
      .filter(({ state }) => state.is !== "known" && state.is !== "warm")
      .map((pod): PoolAction => ({ do: "delete", pod, why: "Surplus" })),
    ...(idleCount > 0 ? [{ do: "retire" as const, ids: idle, count: idleCount, why: "Surplus" as const }] : []),
  ];
};

const failureNotes = (dying: Deletion[]): PoolAction[] =>
  dying.flatMap(({ pod, why }): PoolAction[] => {
    if (why === "FailedStart" && pod.state.is === "ended")
      return [
        { do: "note", type: "Warning", reason: why, note: `browser ${pod.name} did not start: ${pod.state.message}` },
      ];
    if (why === "StartDeadlineExceeded")
      return [
        {
          do: "note",
          type: "Warning",
          reason: why,
          note: `browser ${pod.name} was not ready after ${startDeadlineMs / 1000} s`,
        },
      ];
    if (why === "Unreachable")
      return [
        {
          do: "note",
          type: "Warning",
          reason: why,
          note: `browser ${pod.name} is replaced: its agent did not answer for ${unreachableMs / 1000} s`,
        },
      ];
    return [];
  });

/** Rule 4. */
const hasUnwantedKept = ({ pool, leases }: Observed): boolean =>
  pool.spec.reusePolicy === "reset" && leases.browsers.some(({ state, kept }) => state === "idle" && kept === true);

/** `nowMs`: ms since the epoch. */
export const planPool = (observed: Observed, nowMs: number): PoolPlan => {
  const epoch = nextEpoch(observed);
  if (epoch !== undefined) return planRaise(observed, epoch, nowMs);
  const plan = observed.pool.metadata.deletionTimestamp ? planDeletion(observed, nowMs) : planUpkeep(observed, nowMs);
  const recovering = recovery(observed);
  const marking = marks(observed, resyncMs);
  const resizing = resizes(observed, resyncMs);
  const delivering = deliveries(observed, nowMs);
  return {
    actions: [
      ...plan.actions,
      ...leaving(observed, nowMs),
      ...inspections(observed, nowMs, resyncMs),
      ...delivering.actions,
      ...marking.actions,
      ...resizing.actions,
      ...recovering.actions,
    ],
    status: plan.status,
    requeueAfterMs: Math.min(
      plan.requeueAfterMs,
      marking.requeueAfterMs,
      resizing.requeueAfterMs,
      delivering.requeueAfterMs ?? resyncMs,
      recovering.requeueAfterMs ?? resyncMs,
      ...drainTimes(observed, nowMs),
    ),
  };
};

/** The times until sessions on leaving nodes must end, ms. */
const drainTimes = (observed: Observed, nowMs: number): number[] =>
  observed.pods.flatMap((pod) => {
    const deadline = drainDeadline(pod, observed);
    return deadline === undefined ? [] : [Math.max(1, deadline - nowMs)];
  });

const planUpkeep = (observed: Observed, nowMs: number): PoolPlan => {
  const size = keptSize(observed);
  const dying = deletions(observed, nowMs);
  const unready = observed.pods.filter(({ state, browser }) => state.is === "unready" && browser?.state === "idle");
  const gone = new Set([...dying.map(({ pod }) => pod), ...unready, ...observed.pods.filter(leavesAtOnce)]);
  const alive = observed.pods.filter((pod) => isAlive(pod, nowMs));
  const staying = alive.filter((pod) => !isEnding(pod) && !gone.has(pod));
  const surplus = observed.refusal
    ? []
    : shrink(staying, staying.length + observed.pendingCreations - size, observed.configHash);
  const isWarm = staying.some((pod) => pod.state.is === "warm" && !isFailing(pod));
  const failedStarts = nextFailedStarts(observed, dying, isWarm);
  const missing = observed.refusal ? 0 : size - alive.length - observed.pendingCreations;
  const slot = nextSlot(observed, failedStarts, nowMs);
  const next = starts(observed, missing, slot, nowMs);
  const isFull = missing <= 0 && staying.length === alive.length;
  const isExact =
    isFull &&
    staying.length === size &&
    observed.pendingCreations === 0 &&
    !observed.refusal &&
    observed.waitsFor === undefined;
  const rolling = rollout(isExact ? staying : [], slot, nowMs);
  const nextStartTime = rolling.nextStartTime ?? next.nextStartTime;
  const status = poolStatus(observed, { nowMs, failedStarts, nextStartTime });
  const token = observed.pool.spec.discardIdle;

  return {
    actions: [
      // Drained for a deletion that then did not happen.
      ...(observed.leases.draining ? [{ do: "undrain" as const }] : []),
      ...closings(observed, nowMs),
      ...failureNotes(dying),
      ...dying,
      ...(token && token !== observed.pool.status?.discardedToken ? [{ do: "discard" as const, token }] : []),
      ...(hasUnwantedKept(observed) ? [{ do: "discardKept" as const }] : []),
      ...(unready.length > 0
        ? [
            {
              do: "retire" as const,
              ids: unready.map(({ uid }) => uid),
              count: unready.length,
              why: "Unready" as const,
            },
          ]
        : []),
      ...profileUse(observed, nowMs),
      ...profileRefresh(observed),
      ...surplus,
      ...scalingEvents(observed),
      ...rolloutEvents(observed, status, slot),
      ...rolling.actions,
      ...next.actions,
      ...(isFull && observed.leases.unpaced > 0 ? [{ do: "forfeit" as const, count: observed.leases.unpaced }] : []),
    ],
    status,
    requeueAfterMs: Math.min(
      next.requeueAfterMs,
      rolling.requeueAfterMs,
      observed.scaling?.againMs ?? Number.POSITIVE_INFINITY,
    ),
  };
};

/**
 * A deletion drains: idle browsers go at once, a browser in use goes when its lease ends, or at once when the deletion
 * is forced. A warm or suspect browser may be in use, so it is inspected first.
 */
const planDeletion = (observed: Observed, nowMs: number): PoolPlan => {
  const isForced = observed.pool.metadata.annotations?.["browserpool.dev/force-delete"] === "true";
  const mayGo = (pod: ObservedPod): boolean =>
    isForced || pod.state.is === "starting" || pod.browser?.state === "retired" || isUnreachable(pod, nowMs);
  const going = observed.pods.filter(
    (pod) => deleteReason(pod, observed, nowMs) || (pod.state.is !== "terminating" && mayGo(pod)),
  );
  const idle = observed.leases.browsers.filter(({ state }) => state === "idle").map(({ id }) => id);
  const closed = closings(observed, nowMs);
  const forced: PoolAction[] = isForced
    ? observed.leases.browsers.map((browser) => ({ do: "close", browser: browser.id, why: "pool_deleted" }))
    : [];
  const isEmpty =
    !observed.pods.some((pod) => isAlive(pod, nowMs) || pod.state.is === "ended") && observed.pendingCreations === 0;
  return {
    actions: [
      ...(observed.leases.draining ? [] : [{ do: "drain" as const }]),
      ...(isForced ? forced : closed),
      ...(idle.length > 0
        ? [{ do: "retire" as const, ids: idle, count: idle.length, why: "PoolDeleted" as const }]
        : []),
      ...going.map((pod): PoolAction => ({ do: "delete", pod, why: "PoolDeleted" })),
      ...(isEmpty ? [{ do: "drop" as const }] : []),
    ],
    status: poolStatus(observed, {
      nowMs,
      failedStarts: 0,
      nextStartTime: observed.pool.status?.nextStartTime,
    }),
    requeueAfterMs: resyncMs,
  };
};
