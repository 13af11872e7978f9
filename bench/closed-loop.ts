/** How long a loop runs unmeasured, so that code is compiled and connections are open, s. */
const warmUpSeconds = 1;

export type ClosedLoop = {
  /** Callers at once, each with one call at a time. */
  clients: number;
  seconds: number;
  signal: AbortSignal;
  warmUpSeconds?: number;
};

/**
 * Repeats `call` for each of the clients, each waiting for its answer, and returns the time of every call, ms. A loop like
 * this goes slower when the service does, so it says what one call costs and nothing about a crowd (`open-loop.ts` does).
 * Rejects with the first call that does.
 */
export const closedLoop = async (
  { clients, seconds, signal, warmUpSeconds: warmUp = warmUpSeconds }: ClosedLoop,
  call: (client: number) => Promise<unknown>,
): Promise<number[]> => {
  const times: number[] = [];
  const measureFromMs = performance.now() + warmUp * 1000;
  const endMs = measureFromMs + seconds * 1000;
  const repeat = async (client: number): Promise<void> => {
    for (let beganMs = performance.now(); beganMs < endMs; ) {
      signal.throwIfAborted();
      await call(client);
      const nowMs = performance.now();
      if (beganMs >= measureFromMs) times.push(nowMs - beganMs);
      beganMs = nowMs;
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, client) => repeat(client)));
  return times;
};
