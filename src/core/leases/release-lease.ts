/**
 * The end of a lease by its holder (docs/design.md, The lease protocol, step 5). The session ends first, so that no
 * late call can touch the browser's next lease. Then the agent cuts the sockets. Then it resets the browser, or
 * confirms Chromium. Then a script offers the browser.
 */

import { AppError } from "../../platform/base/errors.ts";
import { retryBriefly } from "../../platform/redis/or-unavailable.ts";
import type { Tracer } from "../../platform/tracing/tracer.ts";
import type { Reuse } from "../protocol/agent-api.ts";
import type { AgentAnswer, AgentClient } from "./agent/agent-client.ts";
import { tracedCall } from "./agent/traced-call.ts";
import type { LeaseStore } from "./lease-store.ts";
import { type AnyLease, acquiredIn, type EndReason, requestOf } from "./records.ts";
import { type OutcomeReports, reportOutcome } from "./report-outcome.ts";
import { offerOrSuspect, type ReturningBrowsers } from "./returning-browsers.ts";

export type ReleaseDeps = {
  /** Left out: nothing is traced. */
  tracer?: Tracer | undefined;
  store: LeaseStore;
  agents: AgentClient;
  returningBrowsers: Pick<ReturningBrowsers, "add">;
  /** Where outcomes of sessions go; left out, nowhere. */
  siteReports?: OutcomeReports | undefined;
};

export type Release = { poolUid: string; session: string; reuse: Reuse; reason: EndReason };

/**
 * `reuse`: how the browser goes back to its pool; with `none` it is retired and the operator destroys it. Resolves when
 * the lease's sockets are cut, before a reset is over. Returns the ended lease, or undefined when the session is not
 * held (any more).
 */
export const releaseLease = async (release: Release, deps: ReleaseDeps): Promise<AnyLease | undefined> => {
  const lease = await endSession(release, deps);
  if (!lease) return undefined;
  if (release.reuse === "none")
    // Cuts the sockets at once instead of with the pod's end.
    noteOutcome(lease, await callEnd(lease, "none", deps), deps);
  else await endOnAgent(release.poolUid, lease, release.reuse, deps);
  return lease;
};

const endSession = ({ poolUid, session, reuse, reason }: Release, { store }: ReleaseDeps) => {
  let tries = 0;
  return retryBriefly(async () => {
    tries += 1;
    const lease = await store.release(poolUid, session, reuse === "none" ? "retired" : "releasing", reason);
    // An earlier try may have ended the session, and only its answer was lost. If another caller's release ended it,
    // going on is harmless: agent and scripts identify the lease by its session and fence, and do nothing twice.
    return lease ?? (tries > 1 ? store.endedLease(poolUid, session) : undefined);
  });
};

const callEnd = (lease: AnyLease, reuse: Reuse, { agents, tracer }: ReleaseDeps): Promise<AgentAnswer> =>
  tracedCall(tracer, { name: "end", lease, origin: () => acquiredIn(requestOf(lease)) }, () =>
    agents.end(lease, reuse),
  );

/**
 * Asks the agent to end the lease. The browser is offered when the agent confirms, at once or after its reset, else it
 * becomes suspect. When Redis fails before that is written, the session has ended anyway, and an inspection finishes
 * the release.
 */
const endOnAgent = async (
  poolUid: string,
  lease: AnyLease,
  reuse: "reset" | "keep",
  deps: ReleaseDeps,
): Promise<void> => {
  const answer = await callEnd(lease, reuse, deps);
  noteOutcome(lease, answer, deps);
  if (answer.kind === "ok" && answer.state.resetting) deps.returningBrowsers.add(poolUid, lease);
  else await offerOrSuspect(poolUid, lease, answer, deps).catch(ignoreOutage);
};

const noteOutcome = (lease: AnyLease, answer: AgentAnswer, { siteReports }: ReleaseDeps): void =>
  reportOutcome(lease, answer.kind === "ok" ? answer.state : undefined, siteReports);

const ignoreOutage = (error: unknown): void => {
  if (!(error instanceof AppError) || error.code !== "unavailable") throw error;
};
