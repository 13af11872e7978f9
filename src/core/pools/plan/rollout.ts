/**
 * The part of the plan that replaces browsers of an earlier image or pod template; pure.
 *
 *   the pool is full, nothing starts, ──► retire the outdated browser that is idle longest; a paced start follows
 *   and a paced start would be due    └─► none is idle: mark one in use to leave when its session ends
 *
 * So a rollout alone never takes more than one browser away from callers, and is no faster than the fill rate. It
 * pauses while filling is paused, and stops while browsers of the new image do not start. Each mark uses up a start:
 * otherwise all browsers in use would be marked at once and could all be missing a moment later. Sessions that end
 * together may still leave the pool short of several browsers, as they do when callers release without reuse.
 */
import type { BrowserPoolStatus } from "../../model/pools/browser-pool.ts";
import type { Observed, ObservedPod } from "../observe/observed.ts";
import type { PoolAction } from "./actions.ts";
import { resyncMs, type Slot } from "./starts.ts";

type Rollout = { actions: PoolAction[]; nextStartTime?: string; requeueAfterMs: number };

const bySince = (a: ObservedPod, b: ObservedPod): number => (a.browser?.since ?? 0) - (b.browser?.since ?? 0);

const nothing: Rollout = { actions: [], requeueAfterMs: resyncMs };

/** `staying`: all pods of a pool that is full. */
export const rollout = (staying: ObservedPod[], { dueMs, everyMs }: Slot, nowMs: number): Rollout => {
  const isBusy = staying.some(({ state }) => state.is === "starting" || state.is === "warm");
  if (isBusy || !Number.isFinite(everyMs)) return nothing;
  const outdated = staying.filter(({ isOutdated }) => isOutdated).sort(bySince);
  const idle = outdated.filter(({ state, browser }) => state.is === "known" && browser?.state === "idle");
  const inUse = outdated.filter(({ browser }) => browser?.state === "leased" && !browser.leaving);
  if (idle.length === 0 && inUse.length === 0) return nothing;
  if (dueMs > nowMs) return { actions: [], requeueAfterMs: Math.min(resyncMs, dueMs - nowMs) };
  const why = "PodOutdated";
  if (idle.length > 0)
    return { ...nothing, actions: [{ do: "retire", ids: idle.map(({ uid }) => uid), count: 1, why }] };
  const nextMs = Math.ceil(nowMs + everyMs);
  return {
    actions: [{ do: "leave", ids: inUse.slice(0, 1).map(({ uid }) => uid), why }],
    nextStartTime: new Date(nextMs).toISOString(),
    requeueAfterMs: Math.min(resyncMs, nextMs - nowMs),
  };
};

/** The Events for the beginning and the end of a rollout. */
export const rolloutEvents = (
  { pool }: Observed,
  { outdatedPods }: BrowserPoolStatus,
  { everyMs }: Slot,
): PoolAction[] => {
  const before = pool.status?.outdatedPods ?? 0;
  if (before === 0 && outdatedPods > 0 && Number.isFinite(everyMs))
    return [
      {
        do: "note",
        type: "Normal",
        reason: "RollStarted",
        note: `${outdatedPods} browsers of an earlier image or pod template are replaced at the fill rate, idle ones first`,
      },
    ];
  if (before > 0 && outdatedPods === 0)
    return [
      {
        do: "note",
        type: "Normal",
        reason: "RollCompleted",
        note: "all browsers are of the present image and template",
      },
    ];
  return [];
};
