import type Kernel from "@onkernel/sdk";

export type AcquireHistory = {
  acquired: number;
  /** What went wrong, with how often. */
  failures: Record<string, number>;
  /** Times of the acquires that succeeded, ms, ascending. */
  latencies: number[];
};

/**
 * Acquires at a constant rate, whatever the answers take, by the public SDK as it comes (it repeats what the service says can be
 * repeated), and releases what it gets at once. `stop` resolves when the last call has its answer.
 */
export const startSteadyAcquires = (
  kernel: Kernel,
  { pool, perSecond }: { pool: string; perSecond: number },
): { stop(): Promise<AcquireHistory> } => {
  const history: AcquireHistory = { acquired: 0, failures: {}, latencies: [] };
  const fail = (what: string): void => {
    history.failures[what] = (history.failures[what] ?? 0) + 1;
  };
  const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).slice(0, 200);
  const open = new Set<Promise<void>>();

  const once = async (): Promise<void> => {
    const startMs = performance.now();
    try {
      const session = await kernel.browserPools.acquire(pool, { acquire_timeout_seconds: 60 });
      if (!session) return fail("acquire: no browser in time");
      history.latencies.push(performance.now() - startMs);
      history.acquired += 1;
      await kernel.browserPools
        .release(pool, { session_id: session.session_id })
        .catch((error: unknown) => fail(`release: ${reasonOf(error)}`));
    } catch (error) {
      fail(`acquire: ${reasonOf(error)}`);
    }
  };
  const timer = setInterval(() => {
    const call = once().finally(() => open.delete(call));
    open.add(call);
  }, 1000 / perSecond);
  return {
    async stop() {
      clearInterval(timer);
      await Promise.all(open);
      history.latencies.sort((a, b) => a - b);
      return history;
    },
  };
};

/** Of a list in ascending order. `share`: 0 to 1. */
const quantile = (values: number[], share: number): number =>
  values[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN;

export const latencyText = ({ latencies }: AcquireHistory): string =>
  `p50 ${quantile(latencies, 0.5).toFixed(0)}, p99 ${quantile(latencies, 0.99).toFixed(0)}, longest ${quantile(latencies, 1).toFixed(0)} ms`;
