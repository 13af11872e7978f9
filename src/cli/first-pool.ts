/** What a newcomer sees of pools after a start. */
import { setTimeout as sleep } from "node:timers/promises";
import { CommandError, call, list, type Service } from "./service.ts";

/** A machine with one processor and other work takes as long, ms. */
const warmWithinMs = 120_000;

type Pool = { id: string; name?: string | null };

/** A pool to try, by name or id; undefined when there is none. */
export const firstPool = async (service: Service, signal: AbortSignal): Promise<string | undefined> => {
  const [first] = await list<Pool>(service, "/browser_pools", { most: 1, signal });
  return first && (first.name || first.id);
};

/** Resolves when the pool has a browser to give. */
export const whenWarm = async (service: Service, pool: string, signal: AbortSignal): Promise<void> => {
  for (const untilMs = performance.now() + warmWithinMs; ; ) {
    const path = `/browser_pools/${encodeURIComponent(pool)}`;
    const state = await call<{ available_count: number }>(service, path, { signal });
    if (state && state.available_count > 0) return;
    if (performance.now() > untilMs)
      throw new CommandError(`pool ${pool} has no warm browser yet; browserpool doctor may say why`);
    await sleep(100, undefined, { signal });
  }
};
