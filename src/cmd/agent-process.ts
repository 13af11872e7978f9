import { readAgentConfig } from "../core/agent/agent-config.ts";
import "../platform/base/without-locales.ts";
import { type AgentStartStep, createStepTimes } from "../core/agent/step-times.ts";
import { environment, forgetVariable } from "../platform/base/environment.ts";
import { runAgent } from "./agent.ts";
import { listenForStop } from "./stop-signals.ts";

/** The process beside one Chromium, configured by its environment. Resolves with its exit code (`runAgent`). */
export const runAgentProcess = (): Promise<number> => {
  const times = createStepTimes<AgentStartStep>(0);
  times.ended("loaded");
  const config = readAgentConfig(environment);
  forgetVariable("BROWSERPOOL_AGENT_KEY");
  return runAgent(config, listenForStop(), { level: environment.BROWSERPOOL_LOG_LEVEL ?? "info", times });
};
