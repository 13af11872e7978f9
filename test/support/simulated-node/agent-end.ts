import type { Termination } from "../../../src/core/protocol/agent-api.ts";

/** How an agent's process ended. `code`: in a word; `message`: its last one, as it stands in the pod's status. */
export type AgentEnd = { code: Termination["reason"] | "killed" | "evicted"; exitCode: number; message: string };

/** Of an agent that could still say why. */
export const lastWord = (reason: Termination["reason"], message: string): AgentEnd => ({
  code: reason,
  exitCode: ["timeout", "max_lifetime", "stopped"].includes(reason) ? 0 : 1,
  message: JSON.stringify({ reason, message } satisfies Termination),
});

export const stopped = lastWord("stopped", "the agent was told to stop");
export const idle = lastWord("timeout", "no connection for the lease's idle timeout");
export const tooOld = lastWord("max_lifetime", "the lease has reached its greatest age");
export const crashed = lastWord("browser_crashed", "the browser was told to die");

/** By SIGKILL: no last word. */
export const killed: AgentEnd = { code: "killed", exitCode: 137, message: "" };
export const evicted: AgentEnd = { code: "evicted", exitCode: 137, message: "" };
