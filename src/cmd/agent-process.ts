import { readAgentConfig } from "../core/agent/agent-config.ts";
import { environment, forgetVariable } from "../platform/base/environment.ts";
import { runAgent } from "./agent.ts";
import { createAgentLogs } from "./serve-browser.ts";
import { listenForStop } from "./stop-signals.ts";

/** The process beside one Chromium, configured by its environment. Resolves with its exit code (`runAgent`). */
export const runAgentProcess = (): Promise<number> => {
  const logs = createAgentLogs(environment.BROWSERPOOL_LOG_LEVEL ?? "info");
  const config = readAgentConfig(environment);
  forgetVariable("BROWSERPOOL_AGENT_KEY");
  return runAgent(config, listenForStop(), logs);
};
