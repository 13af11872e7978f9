import { setTimeout as sleep } from "node:timers/promises";

const nothing = async (): Promise<string> => "";
let explain = nothing;

/** `more`: what the message of a wait in vain tells further, until this is called again. Left out, nothing. */
export const explainWith = (more = nothing): void => {
  explain = more;
};

/**
 * Calls the check every 50 ms until it returns neither undefined nor false. Fails after `withinMs`, 30 s by default,
 * with the text `what`. A function as `what` is called only at the failure, so that it can describe the last state.
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
    if (performance.now() > deadline) {
      const more = await explain().catch(() => "");
      throw new Error(
        `not within ${withinMs / 1000} s: ${typeof what === "string" ? what : what()}${more && `\n${more}`}`,
      );
    }
    await sleep(50);
  }
};
