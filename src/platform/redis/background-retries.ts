import { whileUnavailable } from "./or-unavailable.ts";

/** Work that nobody waits for, repeated while a server is away. */
type BackgroundRetries = {
  /** Pieces of work that are not done yet. */
  size(): number;
  /** Begins the work. Resolves when it is done, and rejects once no try follows. */
  add(work: () => Promise<void>, limits: { tries?: number; withinMs?: number }): Promise<void>;
  /** Waits until all of it is done or given up; no try begins after `withinMs`. */
  drain(withinMs: number): Promise<void>;
};

/** Does nothing before `add`. */
export const createBackgroundRetries = (): BackgroundRetries => {
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();
  return {
    size: () => running.size,
    add(work, limits) {
      const done = whileUnavailable(work, { ...limits, signal: stopping.signal });
      const settled = done.catch(() => undefined).finally(() => running.delete(settled));
      running.add(settled);
      return done;
    },
    async drain(withinMs) {
      const deadline = setTimeout(() => stopping.abort(new Error("the service stops")), withinMs);
      // Requests that end meanwhile may add more.
      while (running.size > 0) await Promise.all(running);
      clearTimeout(deadline);
    },
  };
};
