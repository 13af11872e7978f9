import { AppError } from "../../errors.ts";
import { SessionRequest } from "../../leases/records.ts";
import { purposeHeader, sessionHeader } from "../../protocol/agent-api.ts";
import { createdAt, wireId } from "../../resources/identity.ts";
import type { Vault } from "../../resources/vault.ts";
import type { Project } from "../projects/projects.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { findSession } from "../sessions/find-session.ts";

/** Where a browser's DevTools are, and what its agent wants to see. */
export type DevToolsAddress = { url: string; headers: Record<string, string> };

/** A vault that was made anew under the id of one, which YAML can do, is younger than the session and is not attached. */
const isAttached = (vault: Vault, { vaults = [] }: SessionRequest, sessionMs: number): boolean =>
  vaults.some(({ id }) => id === wireId(vault)) && Date.parse(createdAt(vault)) <= sessionMs;

/**
 * The way to a browser that has the vault attached, for one fill at a time. Throws `not_found`, and `vault_not_attached`
 * for any other browser of the project; one of a pool never has a vault.
 */
export const attachedBrowser = async (
  browserId: string,
  { vault, project }: { vault: Vault; project: Project },
  deps: ServiceDeps,
): Promise<DevToolsAddress> => {
  const { lease } = await findSession(browserId, { project }, deps);
  // A name can be another session's by the next request.
  if (lease.session !== browserId)
    throw new AppError("not_found", `no browser ${browserId} in this project; browser_id is the session_id`);
  if (!isAttached(vault, SessionRequest.parse(JSON.parse(lease.request)), lease.created_at))
    throw new AppError(
      "vault_not_attached",
      `vault ${wireId(vault)} is not attached to browser ${browserId}; vaults are given when a browser is created`,
    );
  const authorization = `Bearer ${deps.agentTokens.tokenFor(lease.browser)}`;
  return {
    url: `ws://${lease.address}/cdp`,
    headers: { authorization, [sessionHeader]: lease.session, [purposeHeader]: "fill" },
  };
};
