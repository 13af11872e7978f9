import type { AgentState } from "../../protocol/agent-api.ts";
import type { LeaseAtAgent } from "./agent-client.ts";

/** Whether the agent's answer says that this lease holds its browser. Any other answer means that what was asked for is not done. */
export const isHeldAtAgent = (
  { session, epoch, seq }: Pick<LeaseAtAgent, "session" | "epoch" | "seq">,
  { lease }: AgentState,
): boolean => lease?.session_id === session && lease.epoch === epoch && lease.seq === seq;
