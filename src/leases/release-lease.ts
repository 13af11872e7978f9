/**
 * The end of a lease by its holder (design.md, the lease protocol, step 5): the session ends first, so that nothing late
 * can touch the browser's next lease; then the agent cuts the sockets and confirms Chromium; then the browser is offered.
 */
import { AppError } from "../errors.ts";
import { retryBriefly } from "../redis/while-unavailable.ts";
import type { AgentClient } from "./agent-client.ts";
import type { LeaseStore } from "./lease-store.ts";
import type { EndReason, LeaseRecord } from "./records.ts";

export type ReleaseDeps = { store: LeaseStore; agents: AgentClient };

export type Release = { poolUid: string; session: string; reuse: boolean; reason: EndReason };

/**
 * `reuse`: the browser goes back to its pool as it stands; else it is retired and the operator destroys it.
 * Returns the ended lease, or undefined when the session is not held (any more).
 */
export const releaseLease = async (release: Release, deps: ReleaseDeps): Promise<LeaseRecord | undefined> => {
  const lease = await endSession(release, deps);
  if (!lease) return undefined;
  if (release.reuse) await endOnAgent(release.poolUid, lease, deps);
  else await deps.agents.end(lease); // cuts the sockets at once; the pod's end would do it a moment later
  return lease;
};

const endSession = ({ poolUid, session, reuse, reason }: Release, { store }: ReleaseDeps) => {
  let tries = 0;
  return retryBriefly(async () => {
    tries += 1;
    const lease = await store.release(poolUid, session, reuse ? "releasing" : "retired", reason);
    // An earlier try may have ended the session though its answer was lost. Should it have been someone else's release after
    // all, then going on is harmless: agent and scripts know the lease by its fence, and do nothing twice.
    return lease ?? (tries > 1 ? store.endedLease(poolUid, session) : undefined);
  });
};

/**
 * Asks the agent to end the lease; the browser is offered when it confirms, and suspect when it does not. When Redis goes away
 * before that is written, the session has ended all the same, and the operator finds the browser half-way.
 */
export const endOnAgent = async (poolUid: string, lease: LeaseRecord, deps: ReleaseDeps): Promise<void> => {
  const answer = await deps.agents.end(lease);
  const note = () =>
    answer.kind === "ok"
      ? deps.store.offer(poolUid, lease)
      : deps.store.suspect(poolUid, lease, answer.kind === "refused" ? answer.code : "unreachable");
  await retryBriefly(note).catch(ignoreOutage);
};

const ignoreOutage = (error: unknown): void => {
  if (!(error instanceof AppError) || error.code !== "unavailable") throw error;
};
