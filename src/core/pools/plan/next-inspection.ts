/**
 * When a browser's next inspection is due, and why; pure.
 *
 *   Warm        ready and without a record: at once
 *   Suspect     at once
 *   Ending      unready, and its agent may keep a profile to be saved: at once
 *   Releasing   when the API replica that ends the lease should be done, then again and again until the state changes
 *   Leased      once, when the bind should be done: while callers wait, as soon as its replica would be known to stand still;
 *               then as Audit
 *   Audit       every minute, each browser at its own second: finds writes that Redis lost and calls that the agent missed
 *   Lost        Redis may have lost what it knew of the browser, whose epoch was raised: at once
 *   Disturbed   not inspected since Redis came back or this replica began to lead: within seconds, more of them for a large fleet
 *
 * A browser in any state whose agent does not answer is inspected again after a back-off.
 */
import { stepMs, stillStepMs } from "../../leases/diagnose.ts";
import type { LastInspection, Observed, ObservedPod } from "../observe/observed.ts";
import { savedProfileUid } from "../pod/pod.ts";
import { isAlive } from "./pod-life.ts";

export type InspectionReason = "Warm" | "Suspect" | "Ending" | "Releasing" | "Leased" | "Lost" | "Audit" | "Disturbed";

/**
 * Which inspections wait for one another (inspect/inspections.ts): `newcomer`: of a browser that is not known yet;
 * `step`: callers or the fill rate wait for it; `recovery`: Redis has lost the lease; `audit`: it can wait.
 */
export type InspectionLane = "newcomer" | "step" | "recovery" | "audit";

/** The lane of an inspection for each reason. */
export const lanes: Readonly<Record<InspectionReason, InspectionLane>> = {
  Warm: "newcomer",
  Suspect: "step",
  Ending: "step",
  Releasing: "step",
  Leased: "step",
  Lost: "recovery",
  Audit: "audit",
  Disturbed: "audit",
};

/** `dueMs`: ms since the epoch; in the past when it is overdue. */
type NextInspection = { dueMs: number; why: InspectionReason };

/** Each browser is audited once in this time, ms, so a lease that Redis has lost is found within it. */
export const auditMs = 60_000;

/**
 * The inspections after a disturbance: the least time over which they are spread, ms, and how many there are in a
 * second at most.
 */
const disturbedSpreadMs = 5000;
const disturbedPerSecond = 500;

const spreadMs = ({ fleet }: Observed): number =>
  Math.max(disturbedSpreadMs, Math.round((fleet / disturbedPerSecond) * 1000));

/** Between two inspections of a browser that stays warm or suspect, ms. */
const againMs = 1000;

const firstRetryMs = 500;
const lastRetryMs = 5000;

/** A whole number below `range`: always the same for one browser, evenly spread over many (FNV-1a). */
const shareOf = (uid: string, range: number): number => {
  let hash = 0x811c9dc5;
  for (let index = 0; index < uid.length; index++) hash = Math.imul(hash ^ uid.charCodeAt(index), 0x01000193);
  return (hash >>> 0) % range;
};

/**
 * The browser's own moment in each audit period: the first that is at least half a period after its last inspection.
 */
const nextAuditMs = (uid: string, atMs: number): number => {
  const earliestMs = atMs + auditMs / 2;
  const intoRoundMs = (earliestMs - shareOf(uid, auditMs)) % auditMs;
  return earliestMs + ((auditMs - intoRoundMs) % auditMs);
};

/** False for a pod that starts, has ended, or is about to be deleted. */
export const isInspectable = (pod: ObservedPod, nowMs: number): boolean => {
  const { state, browser } = pod;
  if (browser?.state === "retired") return false;
  if (state.is === "warm" || state.is === "known") return true;
  return (state.is === "unready" || state.is === "evicted") && browser?.state !== "idle" && isAlive(pod, nowMs);
};

const whyAtOnce = ({ state, browser, pod }: ObservedPod): InspectionReason | undefined => {
  if (state.is === "warm" || (state.is === "evicted" && !browser)) return "Warm";
  if (browser?.state === "suspect") return "Suspect";
  return state.is === "unready" && savedProfileUid(pod) !== undefined ? "Ending" : undefined;
};

const retryMs = ({ failures }: LastInspection): number => Math.min(firstRetryMs * 2 ** (failures - 1), lastRetryMs);

/** The next regular inspection, after the agent has answered one. */
const regularInspection = (
  { browser, uid }: ObservedPod,
  last: LastInspection,
  { leases }: Observed,
  nowMs: number,
): NextInspection => {
  const sinceMs = (browser?.since ?? 0) + (nowMs - leases.nowMs);
  const doneMs = sinceMs + stepMs;
  if (browser?.state === "releasing")
    return { dueMs: last.atMs < doneMs ? doneMs : last.atMs + stepMs, why: "Releasing" };
  const boundMs = leases.waiting > 0 ? sinceMs + stillStepMs : doneMs;
  if (browser?.state === "leased" && last.atMs < boundMs) return { dueMs: boundMs, why: "Leased" };
  return { dueMs: nextAuditMs(uid, last.atMs), why: "Audit" };
};

/** Undefined for a pod that needs no inspection. */
export const nextInspection = (pod: ObservedPod, observed: Observed, nowMs: number): NextInspection | undefined => {
  if (!isInspectable(pod, nowMs)) return undefined;
  const { inspection } = pod;
  const isPresent = inspection?.epoch === observed.leases.epoch;
  const atOnce = whyAtOnce(pod);
  if (inspection && inspection.failures > 0)
    return { dueMs: inspection.atMs + retryMs(inspection), why: atOnce ?? "Audit" };
  if (!isPresent && observed.leases.recoveringSinceMs !== undefined) return { dueMs: nowMs, why: "Lost" };
  if (atOnce) return { dueMs: inspection && isPresent ? inspection.atMs + againMs : nowMs, why: atOnce };
  if (!inspection || !isPresent || inspection.atMs < observed.disturbedAtMs)
    return { dueMs: observed.disturbedAtMs + shareOf(pod.uid, spreadMs(observed)), why: "Disturbed" };
  return regularInspection(pod, inspection, observed, nowMs);
};
