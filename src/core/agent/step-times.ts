import type { AgentTimings } from "../protocol/agent-api.ts";

/** Times the steps of one call; the first one begins when this is made. */
export type StepTimes = {
  /** Ends a step, and begins the next one. */
  ended(step: keyof AgentTimings): void;
  told(): AgentTimings;
};

/** By a clock that is never set. */
export const createStepTimes = (): StepTimes => {
  const told: AgentTimings = {};
  let fromMs = performance.now();
  return {
    ended(step) {
      const nowMs = performance.now();
      told[step] = Math.round((nowMs - fromMs) * 1000) / 1000;
      fromMs = nowMs;
    },
    told: () => told,
  };
};
