import { accident, misbehaviour } from "./agent-trouble.ts";
import type { Fault } from "./fault.ts";

/** Chromium dies; its agent says so and ends. */
export const chromiumCrash: Fault = accident("crash");

/** The agent's process is killed: no last word. */
export const agentCrash: Fault = accident("crash-agent");

/** The node puts pods out. */
export const podEvict: Fault = accident("evict");

/** Agents look at requests late, beyond the time-out of their callers at worst. */
export const agentsSlow: Fault = misbehaviour(
  ({ random }) => ({ slowMs: random.pick([50, 500, 2500, 3500]) }),
  [500, 4000],
);

/** Agents do at once what they are asked and answer late: who gave up waiting does not know. */
export const agentsSlowAnswer: Fault = misbehaviour(
  ({ random }) => ({ slowAnswerMs: random.pick([50, 500, 2500, 3500]) }),
  [500, 4000],
);

/** Agents stand still as stopped processes do; what they were asked meanwhile they do when they go on. */
export const agentsDead: Fault = misbehaviour(() => ({ dead: true }), [500, 5000]);

/** Agents refuse connections. */
export const agentsRefusing: Fault = misbehaviour(() => ({ refusing: true }), [300, 3000]);

/** Chromium does not answer its agent. */
export const agentsUnhealthy: Fault = misbehaviour(() => ({ unhealthy: true }), [300, 4000]);
