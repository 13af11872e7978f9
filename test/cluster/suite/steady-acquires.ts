import Kernel from "@onkernel/sdk";
import { summarize } from "../../../bench/statistics.ts";

type AcquireHistory = {
  acquired: number;
  /** What went wrong, with how often. */
  failures: Record<string, number>;
  /** What the SDK has repeated by itself, and why, with how often. */
  repeats: Record<string, number>;
  /** Times of the acquires that succeeded, ms. */
  latencies: number[];
};

const count = (counts: Record<string, number>, what: string): void => {
  counts[what] = (counts[what] ?? 0) + 1;
};

const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : "";
  return `${error.message}${cause}`.slice(0, 200);
};

/**
 * `fetch` that notes which requests get no answer, or one that asks for a repetition, and which sessions are released
 * again.
 */
const notingFetch =
  ({ repeats }: AcquireHistory, releasedAgain: Set<string>): typeof fetch =>
  async (input, init) => {
    const operation = String(input).split("/").at(-1);
    const isRepeated = Number(new Headers(init?.headers).get("x-stainless-retry-count") ?? 0) > 0;
    if (isRepeated && operation === "release") releasedAgain.add(JSON.parse(String(init?.body)).session_id);
    try {
      const response = await fetch(input, init);
      if (response.headers.get("x-should-retry") === "true") count(repeats, `${operation}: ${response.status}`);
      return response;
    } catch (error) {
      count(repeats, `${operation}: ${reasonOf(error)}`);
      throw error;
    }
  };

/**
 * Acquires at a constant rate, whatever the answers take, by the public SDK as it comes (it repeats what the service
 * says can be repeated, and what got no answer), and releases what it gets at once. `stop` resolves when the last call
 * has its answer.
 */
export const startSteadyAcquires = (
  { url, api_key }: { url: string; api_key: string },
  { pool, perSecond }: { pool: string; perSecond: number },
): { stop(): Promise<AcquireHistory> } => {
  const history: AcquireHistory = { acquired: 0, failures: {}, repeats: {}, latencies: [] };
  const releasedAgain = new Set<string>();
  const kernel = new Kernel({ baseURL: url, apiKey: api_key, fetch: notingFetch(history, releasedAgain) });
  const open = new Set<Promise<void>>();

  const release = async (session_id: string): Promise<void> => {
    try {
      await kernel.browserPools.release(pool, { session_id });
    } catch (error) {
      // The first release was done, and its answer did not come through.
      const isDone = error instanceof Kernel.NotFoundError && releasedAgain.has(session_id);
      if (!isDone) count(history.failures, `release: ${reasonOf(error)}`);
    }
  };
  const once = async (): Promise<void> => {
    const startMs = performance.now();
    try {
      const session = await kernel.browserPools.acquire(pool, { acquire_timeout_seconds: 60 });
      if (!session) return count(history.failures, "acquire: no browser in time");
      history.latencies.push(performance.now() - startMs);
      history.acquired += 1;
      await release(session.session_id);
    } catch (error) {
      count(history.failures, `acquire: ${reasonOf(error)}`);
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
      return history;
    },
  };
};

/** In words. */
export const acquiresText = ({ acquired, latencies, repeats }: AcquireHistory): string => {
  const { p50, p99, max } = summarize(latencies);
  return [
    `${acquired} acquired`,
    `p50 ${p50.toFixed(0)}`,
    `p99 ${p99.toFixed(0)}`,
    `longest ${max.toFixed(0)} ms`,
    ...(Object.keys(repeats).length > 0 ? [`repeated by the SDK: ${JSON.stringify(repeats)}`] : []),
  ].join(", ");
};
