import { setTimeout as sleep } from "node:timers/promises";

/**
 * Asks again every 50 ms until the answer is neither undefined nor false; fails after 30 s, naming `what`. A function is
 * asked at the failure only, so that it can tell what was seen last.
 */
export const eventually = async <T>(
  what: string | (() => string),
  ask: () => Promise<T | undefined | false> | T | undefined | false,
): Promise<T> => {
  const deadline = performance.now() + 30_000;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > deadline) throw new Error(`not within 30 s: ${typeof what === "string" ? what : what()}`);
    await sleep(50);
  }
};
