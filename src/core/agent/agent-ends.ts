// How an agent ends when nothing has failed.

import type { Termination } from "../protocol/agent-api.ts";

/** It was told to stop, and did. */
export const stopped: Termination = { reason: "stopped", message: "the agent was told to stop" };

/** Its browser was for one lease alone (blank-browser.ts). */
export const onlyLeaseOver: Termination = { reason: "stopped", message: "the only lease of this browser is over" };

/** Why a lease ended by itself. */
export const leaseOver = {
  timeout: "no connection for the lease's idle timeout",
  max_lifetime: "the lease has reached its greatest age",
} as const;
