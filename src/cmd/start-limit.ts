/** How long a starting process waits for Kubernetes and Redis, ms; after that it ends, and an orchestrator starts it again. */
export const startLimitMs = 60_000;

/** Runs a start with a signal that is aborted when `stop` is, or after the limit. */
export const withinStartLimit = async <T>(
  stop: AbortSignal | undefined,
  start: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const limit = new AbortController();
  const reason = new Error(`Kubernetes or Redis did not answer within ${startLimitMs / 1000} s`);
  const timer = setTimeout(() => limit.abort(reason), startLimitMs);
  try {
    return await start(stop ? AbortSignal.any([stop, limit.signal]) : limit.signal);
  } finally {
    clearTimeout(timer);
  }
};
