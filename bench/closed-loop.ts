/** Time that a loop runs before it measures, so that code is compiled and connections are open, s. */
const warmUpSeconds = 1;

type ClosedLoop = {
  /** Number of concurrent callers; each makes one call at a time. */
  clients: number;
  seconds: number;
  signal: AbortSignal;
  warmUpSeconds?: number;
};

/**
 * Repeats `call` for each of the clients, one call after another, and returns the time of every call, ms. Such a loop
 * slows down with the service, so it measures the cost of one call and not how the service bears a crowd
 * (`open-loop.ts` measures that). Rejects with the first error of a call.
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
