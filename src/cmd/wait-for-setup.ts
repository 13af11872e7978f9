import type { AgentConfig } from "../core/agent/agent-config.ts";
import { type ReceivedSetup, receiveSetup } from "../core/agent/receive-setup.ts";
import { createAgentTokenVerifier } from "../core/protocol/agent-token.ts";
import type { Logger } from "../platform/base/log.ts";

/** Resolves with what the operator sends for the browser. Rejects when `signal` is aborted. */
export const waitForSetup = async (config: AgentConfig, signal: AbortSignal, log: Logger): Promise<ReceivedSetup> => {
  const verify = createAgentTokenVerifier(config.publicKey, config.podUid);
  const startMs = performance.now();
  const received = await receiveSetup({ config, verify, log }, signal);
  log.info({ ms: Math.round(performance.now() - startMs) }, "the browser's setup is complete");
  return received;
};
