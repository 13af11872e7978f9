/**
 * The decision of the pool loop, pure: what is seen and the time in, named actions and the next status out (design.md, Law 4).
 *
 * Rules, in the order in which they stand below:
 *   0. Redis and the status disagree about the epoch: it is raised, and nothing else is done by what may have been lost.
 *   1. A record whose pod has vanished or ended is closed; its lease ends with the reason. Ended pods are deleted.
 *   2. A browser that nobody may get any more (retired, not answering its probe) is destroyed.
 *   3. Browsers are looked at when it is time (next-look.ts): so a warm pod enters the pool. It may be one that Redis has
 *      forgotten, in use, so nothing else is done to it before; unless it can't be looked at for long.
 *   4. A new `discardIdle` token retires what is idle now; that much is rebuilt at once, unpaced.
 *   5. More than `size` alive: starting ones go, then idle ones (outdated first), never one in use.
 *   6. Fewer than `size` alive: at most one paced start a round, at `nextStartTime` or later, and all unpaced ones.
 *      While starts fail they are tried one by one, further and further apart, until one comes up.
 *      None in a namespace that is not ready for browsers yet.
 *      Unpaced starts that a full pool does not need are forfeited, so that they can't exceed the rate later.
 * A pod counts as alive until its process is surely gone, so that a pool never runs more than `size` browsers.
 */
import { failedStartBackOffMs, startIntervalMs } from "../../domain/fill-pacing.ts";
import type { EndReason } from "../../leases/records.ts";
import type { BrowserPoolStatus } from "../../resources/browser-pool.ts";
import type { LookReason } from "./next-look.ts";
import { isFailing, isUnreachable, looks, nextEpoch, planRaise, recovery, unreachableMs } from "./plan-recovery.ts";
import { failedStartsBefore } from "./pod.ts";
import type { EndedReason, Seen, SeenPod } from "./seen.ts";
import { poolStatus } from "./status.ts";

export type DeleteReason =
  | "Ended"
  | "FailedStart"
  | "StartDeadlineExceeded"
  | "Retired"
  | "Unreachable"
  | "Unready"
  | "Surplus"
  | "PoolDeleted";

export type PoolAction =
  | { do: "raise"; epoch: number }
  | { do: "recovered"; epoch: number }
  | { do: "look"; pod: SeenPod; epoch: number; afterMs: number; why: LookReason }
  | { do: "close"; browser: string; why: EndReason }
  | { do: "retire"; ids: string[]; count: number; why: "Surplus" | "PoolDeleted" | "Unready" }
  | { do: "discard"; token: string }
  | { do: "delete"; pod: SeenPod; why: DeleteReason }
  | { do: "create"; count: number; paced: boolean }
  | { do: "forfeit"; count: number }
  | { do: "drain" }
  | { do: "undrain" }
  | { do: "drop" }
  | { do: "note"; type: "Normal" | "Warning"; reason: string; note: string };

export type PoolPlan = { actions: PoolAction[]; status: BrowserPoolStatus; requeueAfterMs: number };

/** A pod that is not ready after this time, ms, counts as a failed start: a cold Chromium on a busy node takes seconds, an image pull minutes. */
export const startDeadlineMs = 180_000;

/** How long after the end of its grace period a terminating pod still counts as alive, ms. A node that is gone never confirms. */
const lostNodeMs = 30_000;

/** A round for every pool even when nothing seems to happen, ms. */
const resyncMs = 30_000;

const timeMs = (time: string | undefined): number => (time ? Date.parse(time) : 0);

const isAlive = ({ state, pod }: SeenPod, nowMs: number): boolean => {
  if (state.is === "ended") return false;
  if (state.is !== "terminating" || !pod.metadata.deletionTimestamp) return true;
  return nowMs < timeMs(pod.metadata.deletionTimestamp) + lostNodeMs;
};

const endReason: Record<EndedReason, EndReason> = {
  timeout: "timeout",
  browser_crashed: "browser_crashed",
  start_failed: "browser_crashed",
  stopped: "pod_deleted",
  lost: "browser_lost",
};

const isLate = ({ pod, state }: SeenPod, nowMs: number): boolean =>
  state.is === "starting" && nowMs - timeMs(pod.metadata.creationTimestamp) > startDeadlineMs;

/** Ended without ever having entered the pool; `stopped` is the wish of whoever deleted it. */
const isFailedStart = ({ state, browser }: SeenPod): boolean =>
  state.is === "ended" && !browser && state.reason !== "stopped";

const isInUse = ({ browser }: SeenPod): boolean => browser?.state === "leased" || browser?.state === "releasing";

/** Rule 1: records without a living pod. */
const closings = ({ pods, leases }: Seen): PoolAction[] => {
  const byUid = new Map(pods.map((pod) => [pod.uid, pod]));
  return leases.browsers.flatMap((browser): PoolAction[] => {
    const state = byUid.get(browser.id)?.state;
    if (!state) return [{ do: "close", browser: browser.id, why: "browser_lost" }];
    if (state.is === "ended") return [{ do: "close", browser: browser.id, why: endReason[state.reason] }];
    if (state.is === "terminating" && browser.state !== "retired" && browser.state !== "suspect")
      return [{ do: "close", browser: browser.id, why: "pod_deleted" }];
    return [];
  });
};

/** Rules 1 and 2: why a pod has to go now, if it has to. */
const deleteReason = (seen: SeenPod, nowMs: number): DeleteReason | undefined => {
  const { state, browser } = seen;
  if (state.is === "terminating") return undefined;
  if (state.is === "ended") return isFailedStart(seen) ? "FailedStart" : "Ended";
  if (browser?.state === "retired") return "Retired";
  if (isUnreachable(seen, nowMs)) return "Unreachable";
  return isLate(seen, nowMs) ? "StartDeadlineExceeded" : undefined;
};

const deletions = ({ pods }: Seen, nowMs: number): (PoolAction & { do: "delete" })[] =>
  pods.flatMap((pod) => {
    const why = deleteReason(pod, nowMs);
    return why ? [{ do: "delete", pod, why }] : [];
  });

/** Rule 5: the pods that go when there are too many, in this order. */
const bySurplusOrder =
  (currentHash: string) =>
  (a: SeenPod, b: SeenPod): number => {
    const rank = ({ state, configHash }: SeenPod): number => {
      if (state.is === "starting") return 0;
      if (state.is === "warm") return 1;
      return configHash === currentHash ? 3 : 2;
    };
    return rank(a) - rank(b) || (a.browser?.since ?? 0) - (b.browser?.since ?? 0);
  };

/** A warm pod has its turn, so that no idle one goes in its place, and goes when it has entered. */
const shrink = (candidates: SeenPod[], surplus: number, currentHash: string): PoolAction[] => {
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

type Starts = { actions: PoolAction[]; nextStartTime: string | undefined; requeueAfterMs: number };

/** Rule 6. */
const starts = (seen: Seen, missing: number, failedStarts: number, nowMs: number): Starts => {
  const { spec, status } = seen.pool;
  const unpaced = Math.min(missing, seen.leases.unpaced);
  const actions: PoolAction[] = unpaced > 0 ? [{ do: "create", count: unpaced, paced: false }] : [];
  const intervalMs = startIntervalMs(spec);
  const hasFailed = failedStarts > (status?.failedStarts ?? 0);
  const backOffMs = failedStartBackOffMs(failedStarts);
  // A rate that was raised counts at once: what was reserved at the old one is never further away than the new one wants.
  const reservedMs = Math.min(timeMs(status?.nextStartTime), Math.ceil(nowMs + Math.max(intervalMs, backOffMs)));
  const dueMs = Math.max(reservedMs, hasFailed ? nowMs + backOffMs : 0);
  const kept = dueMs > 0 ? new Date(dueMs).toISOString() : undefined;
  if (seen.waitsFor !== undefined) return { actions: [], nextStartTime: kept, requeueAfterMs: resyncMs };
  if (missing - unpaced <= 0 || !Number.isFinite(intervalMs))
    return { actions, nextStartTime: kept, requeueAfterMs: resyncMs };
  if (dueMs > nowMs) return { actions, nextStartTime: kept, requeueAfterMs: dueMs - nowMs };
  const nextMs = Math.ceil(nowMs + Math.max(intervalMs, backOffMs));
  return {
    actions: [...actions, { do: "create", count: 1, paced: true }],
    nextStartTime: new Date(nextMs).toISOString(),
    requeueAfterMs: nextMs - nowMs,
  };
};

/** Starts that were under way together count once: they tell of one trouble, and one by one they would add up to minutes. */
const nextFailedStarts = (seen: Seen, dying: (PoolAction & { do: "delete" })[], isWarm: boolean): number => {
  if (isWarm) return 0;
  const known = seen.pool.status?.failedStarts ?? 0;
  const isNews = dying.some(
    ({ pod, why }) =>
      (why === "FailedStart" || why === "StartDeadlineExceeded") && failedStartsBefore(pod.pod) >= known,
  );
  return isNews ? known + 1 : known;
};

const failureNotes = (dying: (PoolAction & { do: "delete" })[]): PoolAction[] =>
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

/** `nowMs`: ms since the epoch. */
export const planPool = (seen: Seen, nowMs: number): PoolPlan => {
  const epoch = nextEpoch(seen);
  if (epoch !== undefined) return planRaise(seen, epoch, nowMs);
  const plan = seen.pool.metadata.deletionTimestamp ? planDeletion(seen, nowMs) : planUpkeep(seen, nowMs);
  const recovering = recovery(seen);
  return {
    actions: [...plan.actions, ...looks(seen, nowMs, resyncMs), ...recovering.actions],
    status: plan.status,
    requeueAfterMs: Math.min(plan.requeueAfterMs, recovering.requeueAfterMs ?? resyncMs),
  };
};

const planUpkeep = (seen: Seen, nowMs: number): PoolPlan => {
  const size = seen.refusal ? (seen.pool.status?.acceptedSize ?? 0) : seen.pool.spec.size;
  const dying = deletions(seen, nowMs);
  const unready = seen.pods.filter(({ state, browser }) => state.is === "unready" && browser?.state === "idle");
  const gone = new Set([...dying.map(({ pod }) => pod.uid), ...unready.map(({ uid }) => uid)]);
  const alive = seen.pods.filter((pod) => isAlive(pod, nowMs));
  const staying = alive.filter(({ uid, state }) => state.is !== "terminating" && !gone.has(uid));
  const surplus = seen.refusal ? [] : shrink(staying, staying.length + seen.pendingCreations - size, seen.configHash);
  const isWarm = staying.some((pod) => pod.state.is === "warm" && !isFailing(pod));
  const failedStarts = nextFailedStarts(seen, dying, isWarm);
  const missing = seen.refusal ? 0 : size - alive.length - seen.pendingCreations;
  const next = starts(seen, missing, failedStarts, nowMs);
  const isFull = missing <= 0 && staying.length === alive.length;
  const token = seen.pool.spec.discardIdle;

  return {
    actions: [
      // Drained for a deletion that did not come about.
      ...(seen.leases.draining ? [{ do: "undrain" as const }] : []),
      ...closings(seen),
      ...failureNotes(dying),
      ...dying,
      ...(token && token !== seen.pool.status?.discardedToken ? [{ do: "discard" as const, token }] : []),
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
      ...surplus,
      ...next.actions,
      ...(isFull && seen.leases.unpaced > 0 ? [{ do: "forfeit" as const, count: seen.leases.unpaced }] : []),
    ],
    status: poolStatus(seen, { nowMs, size, failedStarts, nextStartTime: next.nextStartTime }),
    requeueAfterMs: Math.min(next.requeueAfterMs, resyncMs),
  };
};

/**
 * Deletion drains: idle browsers go, one in use goes when its lease ends, or at once when the deletion is forced. What a
 * warm or suspect one is, a look tells first.
 */
const planDeletion = (seen: Seen, nowMs: number): PoolPlan => {
  const isForced = seen.pool.metadata.annotations?.["browserpool.dev/force-delete"] === "true";
  const mayGo = (pod: SeenPod): boolean =>
    isForced || pod.state.is === "starting" || pod.browser?.state === "retired" || isUnreachable(pod, nowMs);
  const going = seen.pods.filter((pod) => pod.state.is === "ended" || (pod.state.is !== "terminating" && mayGo(pod)));
  const idle = seen.leases.browsers.filter(({ state }) => state === "idle").map(({ id }) => id);
  const closed = closings(seen);
  const forced: PoolAction[] = isForced
    ? seen.leases.browsers.map((browser) => ({ do: "close", browser: browser.id, why: "pool_deleted" }))
    : [];
  const isEmpty = seen.pods.length === 0 && seen.pendingCreations === 0;
  return {
    actions: [
      ...(seen.leases.draining ? [] : [{ do: "drain" as const }]),
      ...(isForced ? forced : closed),
      ...(idle.length > 0
        ? [{ do: "retire" as const, ids: idle, count: idle.length, why: "PoolDeleted" as const }]
        : []),
      ...going.map((pod): PoolAction => ({ do: "delete", pod, why: "PoolDeleted" })),
      ...(isEmpty ? [{ do: "drop" as const }] : []),
    ],
    status: poolStatus(seen, {
      nowMs,
      size: 0,
      failedStarts: 0,
      nextStartTime: seen.pool.status?.nextStartTime,
    }),
    requeueAfterMs: resyncMs,
  };
};
