import { setTimeout as sleep } from "node:timers/promises";

/** Times of arrival of a Poisson process, ms since its start, ascending. */
export const poissonArrivals = (
  { perSecond, seconds }: { perSecond: number; seconds: number },
  random: () => number,
): number[] => {
  const arrivals: number[] = [];
  for (let atMs = 0; ; ) {
    atMs += (-Math.log(1 - random()) * 1000) / perSecond;
    if (atMs >= seconds * 1000) return arrivals;
    arrivals.push(atMs);
  }
};

type OpenLoopResult = {
  /** Latency of each answered call, from its scheduled arrival to its answer, ms. */
  latencies: number[];
  /** The errors of the other calls. */
  errors: unknown[];
  /** How late calls were sent, ms. This is the generator's own delay; it must be small beside the latencies. */
  lateness: number[];
};

/**
 * Calls at the times of `arrivals`, however many calls are still open, as independent callers do. A latency counts from
 * the scheduled arrival, so that a stall shows in all calls that it delays and not just in one. `call` resolves with
 * the answer. `after` is work that follows the answer and does not count; the loop waits for it at the end.
 */
export const openLoop = async (
  { arrivals, signal }: { arrivals: readonly number[]; signal: AbortSignal },
  call: (index: number) => Promise<{ after?: Promise<unknown> }>,
): Promise<OpenLoopResult> => {
  const result: OpenLoopResult = { latencies: [], errors: [], lateness: [] };
  const beginMs = performance.now();
  const one = async (index: number, dueMs: number): Promise<void> => {
    try {
      result.lateness.push(performance.now() - dueMs);
      const answer = await call(index);
      result.latencies.push(performance.now() - dueMs);
      await answer.after;
    } catch (error) {
      result.errors.push(error);
    }
  };
  const calls: Promise<void>[] = [];
  for (const [index, atMs] of arrivals.entries()) {
    const waitMs = beginMs + atMs - performance.now();
    if (waitMs > 0) await sleep(waitMs, undefined, { signal });
    calls.push(one(index, beginMs + atMs));
  }
  await Promise.all(calls);
  signal.throwIfAborted();
  return result;
};
