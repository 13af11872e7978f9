import type { Browser } from "./browser.ts";

/** Pause between two questions to an idle browser, ms: with the answer's own time, less than a bind accepts (clean-browser.ts). */
const everyMs = 750;

/**
 * Asks the browser all the time whether it answers, while nobody holds it, so that a bind finds an answer that is new enough. Ends with
 * `signal`. It draws no conclusion: a browser that does not answer is found by the bind or by the operator's audit.
 */
export const watchHealth = (browser: Pick<Browser, "isHealthy">, isHeld: () => boolean, signal: AbortSignal): void => {
  const timer = setInterval(() => {
    if (!isHeld()) void browser.isHealthy();
  }, everyMs);
  timer.unref();
  signal.addEventListener("abort", () => clearInterval(timer), { once: true });
};
