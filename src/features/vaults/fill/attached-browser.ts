import type { AgentClient } from "../../../core/leases/agent/agent-client.ts";
import { type AnyLease, requestOf, type SessionRequest } from "../../../core/leases/records.ts";
import type { Project } from "../../../core/projects/projects.ts";
import { type Purpose, purposeHeader, sessionHeader } from "../../../core/protocol/agent-api.ts";
import { type AgentKeys, isUpgradeBy, type UpgradeAnswer } from "../../../core/protocol/agent-key.ts";
import type { AgentTokens } from "../../../core/protocol/agent-token.ts";
import { type FindSessionDeps, findSession } from "../../../core/sessions/find-session.ts";
import { AppError } from "../../../platform/base/errors.ts";
import type { Logger } from "../../../platform/base/log.ts";
import { createdAt, wireId } from "../../../platform/kinds/identity.ts";
import type { Vault } from "../vault.ts";

/**
 * The URL of a browser's DevTools, and the headers that its agent requires. `accepts`: whether the answer to the
 * upgrade came from that agent; no value may be sent to anything else.
 */
type DevToolsAddress = {
  url: string;
  headers: Record<string, string>;
  accepts(answer: UpgradeAnswer): boolean;
};

/** YAML can create a new vault with the id of a deleted one. It is younger than the session, so it is not attached. */
const isAttached = (vault: Vault, { vaults = [] }: SessionRequest, sessionMs: number): boolean =>
  vaults.some(({ id }) => id === wireId(vault)) && Date.parse(createdAt(vault)) <= sessionMs;

/** The present session with this id. Throws `not_found`. */
export const fetchBrowser = async (browserId: string, project: Project, deps: FindSessionDeps): Promise<AnyLease> => {
  const { lease } = await findSession(browserId, { project }, deps);
  // Only an id is accepted: at the next request another session could have the name.
  if (lease.session !== browserId)
    throw new AppError("not_found", `no browser ${browserId} in this project; browser_id is the session_id`);
  return lease;
};

/** Throws `vault_not_attached` for a browser without the vault; a browser of a pool never has one. */
export const requireAttached = (vault: Vault, { session, request, created_at }: AnyLease): void => {
  if (!isAttached(vault, requestOf({ request }), created_at))
    throw new AppError(
      "vault_not_attached",
      `vault ${wireId(vault)} is not attached to browser ${session}; vaults are given when a browser is created`,
    );
};

/** What the address of a browser's DevTools needs. */
export type DevToolsDeps = { agentKeys: AgentKeys; agentTokens: AgentTokens; agents: AgentClient; log: Logger };

/**
 * The DevTools address of a browser, for one connection. `purpose`: of the connection; undefined: it is a client like
 * any other. It calls the agent.
 */
export const devToolsOf = async (
  lease: AnyLease,
  deps: DevToolsDeps,
  { purpose }: { purpose: Purpose | undefined } = { purpose: "fill" },
): Promise<DevToolsAddress> => {
  await deps.agents.learnTime(lease);
  const authorization = `Bearer ${deps.agentTokens.tokenFor(lease.browser)}`;
  const challenge = deps.agentKeys.challenge(lease.pod);
  return {
    url: `ws://${lease.address}/cdp`,
    headers: {
      ...challenge.headers,
      authorization,
      [sessionHeader]: lease.session,
      ...(purpose && { [purposeHeader]: purpose }),
    },
    accepts(answer) {
      const isGenuine = isUpgradeBy(challenge, answer);
      const { browser, pod, address } = lease;
      if (!isGenuine) deps.log.warn({ browser, pod, address }, "an answer did not come from the browser's agent");
      return isGenuine;
    },
  };
};
