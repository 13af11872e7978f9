import { setTimeout as sleep } from "node:timers/promises";

/**
 * Calls the check every 50 ms until it returns neither undefined nor false. Fails after `withinMs`, 30 s by default, with the
 * text `what`. A function as `what` is called only at the failure, so that it can describe the last state.
 */
export const eventually = async <T>(
  what: string | (() => string),
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  withinMs = 30_000,
): Promise<T> => {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > deadline)
      throw new Error(`not within ${withinMs / 1000} s: ${typeof what === "string" ? what : what()}`);
    await sleep(50);
  }
};
