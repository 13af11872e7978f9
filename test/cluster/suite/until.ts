import { setTimeout as sleep } from "node:timers/promises";
import { TimeOver } from "../time-over.ts";

/**
 * Asks again every quarter of a second until the answer is neither undefined nor false; fails after `limitMs`, naming
 * `what`.
 */
export const until = async <T>(
  what: string,
  ask: () => Promise<T | undefined | false>,
  { signal, limitMs = 60_000 }: { signal: AbortSignal; limitMs?: number },
): Promise<T> => {
  for (const deadline = performance.now() + limitMs; ; ) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > deadline) throw new TimeOver(`not within ${limitMs / 1000} s: ${what}`);
    await sleep(250, undefined, { signal });
  }
};
