import type { Logger } from "../../platform/base/log.ts";
import type { AgentAnswer, AgentClient } from "./agent/agent-client.ts";
import { isHeldAtAgent } from "./agent/held-at-agent.ts";
import { agentMismatch, type LeaseRecord, type SessionRequest } from "./records.ts";

const refusalOf = (answer: AgentAnswer): string => {
  if (answer.kind === "ok") return agentMismatch;
  return answer.kind === "refused" ? answer.code : `agent ${answer.reason}`;
};

type BindDeps = { agents: Pick<AgentClient, "bind">; log: Logger };

type Binding = Pick<
  SessionRequest,
  "timeout_seconds" | "max_session_seconds" | "start_url" | "report" | "telemetry"
> & {
  /** The lease takes a browser as its former holders have left it. */
  takesKept?: boolean;
};

/**
 * Asks the agent of a granted browser to take the lease (docs/design.md, The lease protocol, step 2). Returns undefined when the
 * agent took it, else the reason why the caller can't have this browser. `whileBinding`: called once the request is sent.
 */
export const bindLease = async (
  lease: LeaseRecord,
  { timeout_seconds, max_session_seconds, start_url, report, telemetry, takesKept = false }: Binding,
  { agents, log }: BindDeps,
  whileBinding?: (lease: LeaseRecord) => void,
): Promise<string | undefined> => {
  const asked = agents.bind(lease, {
    session_id: lease.session,
    epoch: lease.epoch,
    seq: lease.seq,
    timeout_seconds,
    max_seconds: max_session_seconds,
    request: lease.request,
    ...(start_url && { start_url }),
    ...(telemetry && { telemetry }),
    ...(takesKept && { takes_kept: true }),
    // A browser that was made before its pool was changed is another configuration.
    ...(report?.config === lease.config && { observe: true }),
  });
  whileBinding?.(lease);
  const answer = await asked;
  if (answer.kind === "ok" && isHeldAtAgent(lease, answer.state)) return undefined;
  const reason = refusalOf(answer);
  log.warn({ browser: lease.browser, pod: lease.pod, reason }, "browser refused its lease");
  return reason;
};
