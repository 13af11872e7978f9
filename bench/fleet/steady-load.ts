/** Callers of one small pool who acquire and release all the time, in their own process. */
import { closedLoop } from "../closed-loop.ts";
import { createLoadClient, type Target } from "../leases/client.ts";
import type { Job } from "../own-process.ts";

export type SteadyLoad = { target: Target; callers: number; seconds: number };

/** Times of the acquires, ms. */
export const run: Job<SteadyLoad, number[]> = async ({ target, callers, seconds }, signal) => {
  const client = createLoadClient(target, callers);
  const times: number[] = [];
  try {
    await closedLoop({ clients: callers, seconds, signal }, async () => {
      const beganMs = performance.now();
      const session = await client.acquire();
      times.push(performance.now() - beganMs);
      await client.release(session);
    });
    return times;
  } finally {
    await client.close();
  }
};
