/**
 * The end of a lease by its holder (design.md, the lease protocol, step 5): the session ends first, so that nothing late
 * can touch the browser's next lease; then the agent cuts the sockets and confirms Chromium; then the browser is offered.
 */
import type { AgentClient } from "./agent-client.ts";
import type { LeaseStore } from "./lease-store.ts";
import type { EndReason, LeaseRecord } from "./records.ts";

export type ReleaseDeps = { store: LeaseStore; agents: AgentClient };

/**
 * `reuse`: the browser goes back to its pool as it stands; else it is retired and the operator destroys it.
 * Returns the ended lease, or undefined when the session is not held (any more).
 */
export const releaseLease = async (
  { poolUid, session, reuse, reason }: { poolUid: string; session: string; reuse: boolean; reason: EndReason },
  deps: ReleaseDeps,
): Promise<LeaseRecord | undefined> => {
  const lease = await deps.store.release(poolUid, session, reuse ? "releasing" : "retired", reason);
  if (!lease) return undefined;
  if (reuse) await endOnAgent(poolUid, lease, deps);
  else await deps.agents.end(lease); // cuts the sockets at once; the pod's end would do it a moment later
  return lease;
};

/** Asks the agent to end the lease; the browser is offered when it confirms, and suspect when it does not. */
export const endOnAgent = async (poolUid: string, lease: LeaseRecord, deps: ReleaseDeps): Promise<void> => {
  const answer = await deps.agents.end(lease);
  if (answer.kind === "ok") await deps.store.offer(poolUid, lease);
  else await deps.store.suspect(poolUid, lease, answer.kind === "refused" ? answer.code : "unreachable");
};
