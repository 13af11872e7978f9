import type { AgentConfig } from "../core/agent/agent-config.ts";
import { type GivenBrowser, serveBlankBrowser } from "../core/agent/blank-browser.ts";
import { type ReceivedSetup, receiveSetup } from "../core/agent/receive-setup.ts";
import type { Termination } from "../core/protocol/agent-api.ts";
import { createAgentTokenVerifier } from "../core/protocol/agent-token.ts";
import type { Logger } from "../platform/base/log.ts";

// What an agent does that does not know yet which browser to start.

/** Resolves with what the operator sends for the browser. Rejects when `signal` is aborted. */
export const waitForSetup = async (config: AgentConfig, signal: AbortSignal, log: Logger): Promise<ReceivedSetup> => {
  const verify = createAgentTokenVerifier(config.publicKey, config.podUid);
  const startMs = performance.now();
  const received = await receiveSetup({ config, verify, log }, signal);
  log.info({ ms: Math.round(performance.now() - startMs) }, "the browser's setup is complete");
  return received;
};

/**
 * Resolves with what the holder of the blank browser asks for, or with the reason when the agent ends before. Rejects
 * when `signal` is aborted.
 */
export const waitForHolder = async (
  config: AgentConfig,
  signal: AbortSignal,
  log: Logger,
): Promise<{ given: GivenBrowser } | { over: Termination }> => {
  const verify = createAgentTokenVerifier(config.publicKey, config.podUid);
  // There is time for it now.
  await import("./serve-browser.ts");
  return serveBlankBrowser({ config, verify, log }, signal);
};
