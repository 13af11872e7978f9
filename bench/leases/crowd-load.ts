/**
 * The load of the sections `open-loop` and `burst`, in its own process: callers that each hold a browser for a moment.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { monotonicMs } from "../../test/support/simulated-node/agent-event.ts";
import { openLoop } from "../open-loop.ts";
import type { Job } from "../own-process.ts";
import type { Hold } from "./agent-events.ts";
import { createLoadClient, type Target } from "./client.ts";

export type CrowdLoad = {
  target: Target;
  /** Times of arrival, ms since the start. */
  arrivals: number[];
  holdMs: number;
  connections: number;
};

export type CrowdResult = {
  /** From the scheduled arrival to the answer with a browser, ms. */
  acquires: number[];
  /** How late the generator sent each call, ms. */
  lateness: number[];
  releases: number[];
  errors: string[];
  holds: Hold[];
};

export const run: Job<CrowdLoad, CrowdResult> = async ({ target, arrivals, holdMs, connections }, signal) => {
  const client = createLoadClient(target, connections);
  const holds: Hold[] = [];
  const releases: number[] = [];
  try {
    await client.connect(connections);
    const { latencies, lateness, errors } = await openLoop({ arrivals, signal }, async () => {
      const session = await client.acquire();
      const fromMs = monotonicMs();
      const letGo = async (): Promise<void> => {
        await sleep(holdMs);
        const untilMs = monotonicMs();
        holds.push({ session: session.session_id, fromMs, untilMs });
        await client.release(session);
        releases.push(monotonicMs() - untilMs);
      };
      return { after: letGo() };
    });
    return { acquires: latencies, lateness, releases, errors: errors.map(String), holds };
  } finally {
    await client.close();
  }
};
