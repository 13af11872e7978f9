/** The load of the section `week`, in its own process: callers who acquire and release all the time. */
import type { Job } from "../own-process.ts";
import { createLoadClient, type Target } from "./client.ts";

export type WeekLoad = { targets: Target[]; callersEach: number; leases: number };
/** `acquireMs`: of each tenth of the leases, in the order in which they began. */
export type WeekTimes = { seconds: number; acquireMs: number[][]; errors: Record<string, number> };

const tenths = 10;
const warmUps = 2000;

export const run: Job<WeekLoad, WeekTimes> = async ({ targets, callersEach, leases }, signal) => {
  const clients = targets.map((target) => createLoadClient(target, callersEach));
  const acquireMs = Array.from({ length: tenths }, (): number[] => []);
  const errors: Record<string, number> = {};
  let begun = -warmUps;
  const turn = async (client: (typeof clients)[number]): Promise<void> => {
    const number = begun++;
    const beganMs = performance.now();
    try {
      const session = await client.acquire();
      if (number >= 0) acquireMs[Math.floor((number * tenths) / leases)]?.push(performance.now() - beganMs);
      await client.release(session);
    } catch (error) {
      const text = String(error).slice(0, 200);
      errors[text] = (errors[text] ?? 0) + 1;
    }
  };
  const beganMs = performance.now();
  try {
    const callers = clients.flatMap((client) => Array.from({ length: callersEach }, () => client));
    await Promise.all(
      callers.map(async (client) => {
        while (begun < leases && !signal.aborted) await turn(client);
      }),
    );
    return { seconds: (performance.now() - beganMs) / 1000, acquireMs, errors };
  } finally {
    await Promise.all(clients.map((client) => client.close()));
  }
};
