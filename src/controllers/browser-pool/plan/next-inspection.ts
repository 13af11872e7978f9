/**
 * When a browser is to be looked at next, and why; pure.
 *
 *   Warm        ready and not known to the leases: at once
 *   Suspect     at once
 *   Releasing   when the API replica that ends the lease should be done, and again and again until the browser is out of it
 *   Leased      once when the bind should be done, then as Audit
 *   Audit       every minute, each browser at its own second: what Redis has lost, or the agent not heard
 *   Disturbed   not looked at since Redis came back, its epoch was raised, or this replica began to lead: within seconds
 *
 * A browser whose agent does not answer is looked at again after a back-off, whatever it is.
 */
import { stepMs } from "../../../leases/diagnose.ts";
import type { LastInspection, Observed, ObservedPod } from "../observe/observed.ts";
import { isAlive } from "./pod-life.ts";

export type InspectionReason = "Warm" | "Suspect" | "Releasing" | "Leased" | "Audit" | "Disturbed";

/** `dueMs`: ms since the epoch; in the past when it is overdue. */
export type NextInspection = { dueMs: number; why: InspectionReason };

/** Each browser is audited once in this time, ms. A lease that Redis has lost is found within it. */
export const auditMs = 60_000;

/** Time over which the looks after a disturbance are spread, ms. */
const disturbedSpreadMs = 5000;

/** Between two looks at a browser that did not get anywhere, ms. */
const againMs = 1000;

const firstRetryMs = 500;
const lastRetryMs = 5000;

/** A whole number below `range` that is always the same for one browser, and evenly spread over many (FNV-1a). */
const shareOf = (uid: string, range: number): number => {
  let hash = 0x811c9dc5;
  for (let index = 0; index < uid.length; index++) hash = Math.imul(hash ^ uid.charCodeAt(index), 0x01000193);
  return (hash >>> 0) % range;
};

/** The browser's own moment in the rhythm of audits, the first that is not too soon after its last look. */
const nextAuditMs = (uid: string, atMs: number): number => {
  const earliestMs = atMs + auditMs / 2;
  const intoRoundMs = (earliestMs - shareOf(uid, auditMs)) % auditMs;
  return earliestMs + ((auditMs - intoRoundMs) % auditMs);
};

/** A pod that starts, ends, or is to be destroyed is not looked at. */
const isInspectable = (pod: ObservedPod, nowMs: number): boolean => {
  const { state, browser } = pod;
  if (browser?.state === "retired") return false;
  if (state.is === "warm" || state.is === "known") return true;
  return (state.is === "unready" || state.is === "evicted") && browser?.state !== "idle" && isAlive(pod, nowMs);
};

const whyAtOnce = ({ state, browser }: ObservedPod): InspectionReason | undefined => {
  if (state.is === "warm" || (state.is === "evicted" && !browser)) return "Warm";
  return browser?.state === "suspect" ? "Suspect" : undefined;
};

const retryMs = ({ failures }: LastInspection): number => Math.min(firstRetryMs * 2 ** (failures - 1), lastRetryMs);

/** The next one in order, after a look that found all well. */
const regularInspection = (
  { browser, uid }: ObservedPod,
  look: LastInspection,
  { leases }: Observed,
  nowMs: number,
): NextInspection => {
  const doneMs = (browser?.since ?? 0) + stepMs + (nowMs - leases.nowMs);
  if (browser?.state === "releasing")
    return { dueMs: look.atMs < doneMs ? doneMs : look.atMs + stepMs, why: "Releasing" };
  if (browser?.state === "leased" && look.atMs < doneMs) return { dueMs: doneMs, why: "Leased" };
  return { dueMs: nextAuditMs(uid, look.atMs), why: "Audit" };
};

/** Undefined for a pod that is not to be looked at. */
export const nextInspection = (pod: ObservedPod, seen: Observed, nowMs: number): NextInspection | undefined => {
  if (!isInspectable(pod, nowMs)) return undefined;
  const { inspection } = pod;
  const isPresent = inspection?.epoch === seen.leases.epoch;
  const atOnce = whyAtOnce(pod);
  if (inspection && inspection.failures > 0)
    return { dueMs: inspection.atMs + retryMs(inspection), why: atOnce ?? "Audit" };
  if (atOnce) return { dueMs: inspection && isPresent ? inspection.atMs + againMs : nowMs, why: atOnce };
  if (!inspection || !isPresent || inspection.atMs < seen.disturbedAtMs)
    return { dueMs: seen.disturbedAtMs + shareOf(pod.uid, disturbedSpreadMs), why: "Disturbed" };
  return regularInspection(pod, inspection, seen, nowMs);
};
