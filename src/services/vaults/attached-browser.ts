import { AppError } from "../../errors.ts";
import { SessionRequest } from "../../leases/records.ts";
import { purposeHeader, sessionHeader } from "../../protocol/agent-api.ts";
import { isUpgradeBy, type UpgradeAnswer } from "../../protocol/agent-key.ts";
import { createdAt, wireId } from "../../resources/identity.ts";
import type { Vault } from "../../resources/vault.ts";
import type { Project } from "../projects/projects.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { findSession } from "../sessions/find-session.ts";

/**
 * The URL of a browser's DevTools, and the headers that its agent requires. `accepts`: whether the answer to the upgrade came from
 * that agent; no value may be sent to anything else.
 */
export type DevToolsAddress = {
  url: string;
  headers: Record<string, string>;
  accepts(answer: UpgradeAnswer): boolean;
};

/** YAML can create a new vault with the id of a deleted one. It is younger than the session, so it is not attached. */
const isAttached = (vault: Vault, { vaults = [] }: SessionRequest, sessionMs: number): boolean =>
  vaults.some(({ id }) => id === wireId(vault)) && Date.parse(createdAt(vault)) <= sessionMs;

/**
 * The DevTools address of a browser that has the vault attached, for one fill at a time. Throws `not_found`, and
 * `vault_not_attached` for any other browser of the project; a browser of a pool never has a vault.
 */
export const attachedBrowser = async (
  browserId: string,
  { vault, project }: { vault: Vault; project: Project },
  deps: ServiceDeps,
): Promise<DevToolsAddress> => {
  const { lease } = await findSession(browserId, { project }, deps);
  // Only an id is accepted: at the next request another session could have the name.
  if (lease.session !== browserId)
    throw new AppError("not_found", `no browser ${browserId} in this project; browser_id is the session_id`);
  if (!isAttached(vault, SessionRequest.parse(JSON.parse(lease.request)), lease.created_at))
    throw new AppError(
      "vault_not_attached",
      `vault ${wireId(vault)} is not attached to browser ${browserId}; vaults are given when a browser is created`,
    );
  await deps.agents.learnTime(lease);
  const authorization = `Bearer ${deps.agentTokens.tokenFor(lease.browser)}`;
  const challenge = deps.agentKeys.challenge(lease.pod);
  return {
    url: `ws://${lease.address}/cdp`,
    headers: { ...challenge.headers, authorization, [sessionHeader]: lease.session, [purposeHeader]: "fill" },
    accepts(answer) {
      const isGenuine = isUpgradeBy(challenge, answer);
      const { browser, pod, address } = lease;
      if (!isGenuine) deps.log.warn({ browser, pod, address }, "an answer did not come from the browser's agent");
      return isGenuine;
    },
  };
};
