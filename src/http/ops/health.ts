import type { Part } from "../../metrics/process-metrics.ts";

/** Deadline of one probe of a part, ms: below the usual time-out of a readiness probe. */
const probeTimeoutMs = 1000;

/** Whether a process can serve. */
export type Health = {
  /** Asks every part; an answer that does not come in time is none. Never rejects. */
  parts(): Promise<Record<Part, boolean>>;
  /** Between its start and its stop. */
  isRunning(): boolean;
  setRunning(isRunning: boolean): void;
};

const within = async (probe: Promise<boolean>): Promise<boolean> => {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), probeTimeoutMs);
  try {
    return await Promise.race([probe.catch(() => false), promise]);
  } finally {
    clearTimeout(timer);
  }
};

/** Not running until it is said to be. */
export const createHealth = (probes: Record<Part, () => Promise<boolean>>): Health => {
  let running = false;
  return {
    async parts() {
      const [redis, kubernetes] = await Promise.all([within(probes.redis()), within(probes.kubernetes())]);
      return { redis, kubernetes };
    },
    isRunning: () => running,
    setRunning(isRunning) {
      running = isRunning;
    },
  };
};
