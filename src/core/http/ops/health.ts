import type { Part } from "../../../platform/metrics/process-metrics.ts";

/** Deadline of one check of a part, ms: below the usual timeout of a readiness probe. */
const probeTimeoutMs = 1000;

/** How long a check is good, ms. */
const sharedMs = 1000;

/** Whether a process can serve. */
export type Health = {
  /**
   * Checks every part; a part that does not answer in time counts as down. Whoever asks within a second of a check
   * shares it: who asks needs no key, and each check asks the API server. Never rejects.
   */
  parts(): Promise<Record<Part, boolean>>;
  /** True between the process's start and its stop. */
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

/** Makes the health of a process that is not running yet. */
export const createHealth = (probes: Record<Part, () => Promise<boolean>>): Health => {
  let running = false;
  let last: { atMs: number; parts: Promise<Record<Part, boolean>> } | undefined;
  const check = async (): Promise<Record<Part, boolean>> => {
    const [redis, kubernetes] = await Promise.all([within(probes.redis()), within(probes.kubernetes())]);
    return { redis, kubernetes };
  };
  return {
    parts() {
      const nowMs = performance.now();
      if (!last || nowMs - last.atMs >= sharedMs) last = { atMs: nowMs, parts: check() };
      return last.parts;
    },
    isRunning: () => running,
    setRunning(isRunning) {
      running = isRunning;
    },
  };
};
