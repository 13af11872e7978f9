import type { Logger } from "../../../platform/base/log.ts";
import type { AgentClient } from "../../leases/agent/agent-client.ts";
import { freeName } from "../../leases/free-name.ts";
import type { LeaseStore } from "../../leases/lease-store.ts";
import type { EndReason } from "../../leases/records.ts";
import type { SessionNames } from "../../reservations/session-names.ts";

export type CloseDeps = {
  store: Pick<LeaseStore, "close">;
  names: Pick<SessionNames, "free">;
  agents: Pick<AgentClient, "end">;
  log: Logger;
};

/** `keepsRecord`: it stays, retired, until the next close. */
type Closing = { browser: string; why: EndReason; keepsRecord?: boolean };

/**
 * Closes the record of a browser and ends its lease. An agent whose pod is deleted serves its lease until the grace
 * period ends. So on a forced deletion of the pool, end the agent's lease first.
 */
export const closeRecord = async (
  poolUid: string,
  { browser, why, keepsRecord = false }: Closing,
  { store, names, agents, log }: CloseDeps,
): Promise<void> => {
  const lease = await store.close(poolUid, browser, why, { keepsRecord });
  if (!lease) return;
  await freeName(names, poolUid, lease);
  log.info({ session: lease.session, browser, why }, "lease ended with its browser");
  if (why === "pool_deleted" || why === "node_drained") await agents.end(lease, "none");
};
