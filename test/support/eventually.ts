import { setTimeout as sleep } from "node:timers/promises";

/** Asks again every 50 ms until the answer is neither undefined nor false; fails after 30 s, naming `what`. */
export const eventually = async <T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
): Promise<T> => {
  const deadline = performance.now() + 30_000;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > deadline) throw new Error(`not within 30 s: ${what}`);
    await sleep(50);
  }
};
