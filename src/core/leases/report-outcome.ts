import type { SiteReports } from "../../features/sites/site-reports.ts";
import type { AgentState } from "../protocol/agent-api.ts";
import { type AnyLease, requestOf } from "./records.ts";

/**
 * Passes on what the agent tells of a session's first navigation, if its caller allows that. The agent tells the same again; the operator
 * counts it once. What an agent says of another session than that of its lease counts for none.
 */
export const reportOutcome = (
  lease: AnyLease | undefined,
  state: Pick<AgentState, "outcome"> | undefined,
  reports: SiteReports | undefined,
): void => {
  const outcome = state?.outcome;
  if (!reports || !lease || !outcome || outcome.session_id !== lease.session) return;
  const { report, project } = requestOf(lease);
  if (report?.config !== lease.config) return;
  const { target, verdict } = outcome;
  reports.tell({ session: lease.session, project, recipe: report.recipe, target, verdict });
};
