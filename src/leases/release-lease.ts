/**
 * The end of a lease by its holder (docs/design.md, The lease protocol, step 5). The session ends first, so that no late call can
 * touch the browser's next lease. Then the agent cuts the sockets and confirms Chromium. Then a script offers the browser.
 */
import { AppError } from "../errors.ts";
import { retryBriefly } from "../redis/while-unavailable.ts";
import type { AgentClient } from "./agent-client.ts";
import type { LeaseStore } from "./lease-store.ts";
import type { EndReason, LeaseRecord } from "./records.ts";

export type ReleaseDeps = { store: LeaseStore; agents: AgentClient };

export type Release = { poolUid: string; session: string; reuse: boolean; reason: EndReason };

/**
 * `reuse`: the browser goes back to its pool as it is; else it is retired and the operator destroys it.
 * Returns the ended lease, or undefined when the session is not held (any more).
 */
export const releaseLease = async (release: Release, deps: ReleaseDeps): Promise<LeaseRecord | undefined> => {
  const lease = await endSession(release, deps);
  if (!lease) return undefined;
  if (release.reuse) await endOnAgent(release.poolUid, lease, deps);
  else await deps.agents.end(lease); // cuts the sockets at once instead of with the pod's end
  return lease;
};

const endSession = ({ poolUid, session, reuse, reason }: Release, { store }: ReleaseDeps) => {
  let tries = 0;
  return retryBriefly(async () => {
    tries += 1;
    const lease = await store.release(poolUid, session, reuse ? "releasing" : "retired", reason);
    // An earlier try may have ended the session, and only its answer was lost. If another caller's release ended it, going on
    // is harmless: agent and scripts identify the lease by its session and fence, and do nothing twice.
    return lease ?? (tries > 1 ? store.endedLease(poolUid, session) : undefined);
  });
};

/**
 * Asks the agent to end the lease. The browser is offered when the agent confirms, else it becomes suspect. When Redis fails
 * before that is written, the session has ended anyway, and an inspection finishes the release.
 */
export const endOnAgent = async (poolUid: string, lease: LeaseRecord, deps: ReleaseDeps): Promise<void> => {
  const answer = await deps.agents.end(lease);
  const writeResult = () =>
    answer.kind === "ok"
      ? deps.store.offer(poolUid, lease)
      : deps.store.suspect(poolUid, lease, answer.kind === "refused" ? answer.code : "unreachable");
  await retryBriefly(writeResult).catch(ignoreOutage);
};

const ignoreOutage = (error: unknown): void => {
  if (!(error instanceof AppError) || error.code !== "unavailable") throw error;
};
