import type { AgentTimings } from "../protocol/agent-api.ts";

/** Times the steps of some work; the first one begins when this is made. */
export type StepTimes<Step extends string = keyof AgentTimings> = {
  /** Ends a step, and begins the next one. */
  ended(step: Step): void;
  told(): { [step in Step]?: number };
};

/** By a clock that is never set. `beganMs`: when the first step began, by that clock; left out, now. */
export const createStepTimes = <Step extends string = keyof AgentTimings>(
  beganMs = performance.now(),
): StepTimes<Step> => {
  const told: { [step in Step]?: number } = {};
  let fromMs = beganMs;
  return {
    ended(step) {
      const nowMs = performance.now();
      told[step] = Math.round((nowMs - fromMs) * 1000) / 1000;
      fromMs = nowMs;
    },
    told: () => told,
  };
};

/**
 * The steps of an agent's start, from the start of its process: its first code is loaded, it has its setup where it
 * waits for one, Chromium's process runs, Chromium answers, the agent serves.
 */
export type AgentStartStep = "loaded" | "setup" | "spawned" | "answered" | "serving";
