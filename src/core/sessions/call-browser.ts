import { AppError, type ErrorCode, invalidInput, unavailable } from "../../platform/base/errors.ts";
import type { Logger } from "../../platform/base/log.ts";
import type { AgentExchanges, Exchanged, HolderCall } from "../leases/agent/agent-exchange.ts";
import type { LeaseStore } from "../leases/lease-store.ts";
import type { CallerLimits } from "../projects/caller-limits.ts";
import type { FoundSession } from "./find-session.ts";

export type CallBrowserDeps = {
  agentExchanges: AgentExchanges;
  callerLimits: CallerLimits;
  log: Logger;
  store: LeaseStore;
};

/** The agent's refusals that are a holder's mistake, and what they are for it. */
const forHolder: Readonly<Record<string, ErrorCode>> = {
  bad_request: "bad_request",
  missing: "not_found",
  not_supported_here: "not_supported_here",
  conflict: "conflict",
  forbidden: "forbidden",
  disk_full: "payload_too_large",
  payload_too_large: "payload_too_large",
};

/** The error that an agent's refusal is for the holder; undefined when it isn't the holder's. */
const asError = (code: string, message: string): AppError | undefined => {
  const known = Object.hasOwn(forHolder, code) ? forHolder[code] : undefined;
  if (known === undefined) return undefined;
  const [, path, text] = /^([a-z_]+): (.+)$/s.exec(message) ?? [];
  return known === "bad_request" && path && text
    ? invalidInput([{ path, message: text }])
    : new AppError(known, message);
};

/**
 * Passes a holder's call on to its browser's agent. Throws `not_found` when the session has ended, `rate_limited` when
 * it has too many calls under way, the agent's refusals, else `unavailable`.
 */
export const callBrowser = async (
  { lease, poolUid }: FoundSession,
  call: HolderCall,
  deps: CallBrowserDeps,
  signal: AbortSignal,
): Promise<Extract<Exchanged, { kind: "json" | "bytes" }>> => {
  const exchanged = await deps.agentExchanges.exchange(lease, call, signal);
  if (exchanged.kind === "json" || exchanged.kind === "bytes") return exchanged;
  if (!(await deps.store.lease(poolUid, lease.session)))
    throw new AppError("not_found", `browser ${lease.session} has ended`);
  if (exchanged.kind === "refused") {
    const { code, message } = exchanged;
    if (code === "too_many_requests") throw deps.callerLimits.refusal("streams", message, 1);
    const error = asError(code, message);
    if (error) throw error;
  }
  deps.log.warn({ session_id: lease.session, answer: exchanged }, "a browser's agent did not carry a call out");
  throw unavailable("the browser");
};
