import type { AgentState } from "../protocol/agent-api.ts";
import { type AnyLease, requestOf } from "./records.ts";

/** Takes what came of sessions' first navigations. `recipe`: as the request of the lease has it. */
export type OutcomeReports = {
  tell(report: {
    session: string;
    project: string;
    recipe: unknown;
    target: string;
    verdict: "accessed" | "blocked";
  }): void;
};

/**
 * Passes on what the agent tells of a session's first navigation, if its caller allows that. The agent tells the same
 * again; the operator counts it once. What an agent says of another session than that of its lease counts for none.
 */
export const reportOutcome = (
  lease: AnyLease | undefined,
  state: Pick<AgentState, "outcome"> | undefined,
  reports: OutcomeReports | undefined,
): void => {
  const outcome = state?.outcome;
  if (!reports || !lease || !outcome || outcome.session_id !== lease.session) return;
  const { report, project } = requestOf(lease);
  if (report?.config !== lease.config) return;
  const { target, verdict } = outcome;
  reports.tell({ session: lease.session, project, recipe: report.recipe, target, verdict });
};
