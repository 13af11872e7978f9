import type { EndedSession } from "../metrics/session-metrics.ts";
import { type EndReason, type LeaseRecord, requestOf } from "./records.ts";

/** What metrics say of the session of a lease that has just ended. `nowMs`: since 1970. Throws for a malformed request. */
export const endedSession = (lease: LeaseRecord, reason: EndReason, nowMs: number): EndedSession => {
  const { project, pool, on_demand } = requestOf(lease);
  return { project, poolUid: on_demand ? undefined : pool.uid, reason, seconds: (nowMs - lease.created_at) / 1000 };
};
