/**
 * The browser between two leases: whether the next holder may have it.
 *
 *            use              reset
 *   clean ────────► used ───────────► resetting ────► clean
 *     ▲              │
 *     └──── keep ────┘ the pool hands browsers on as they stand, unless their holder has changed what they are made with
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../log.ts";
import type { Browser } from "./browser.ts";

/** How long a bind waits for a reset, ms: less than its caller waits for the agent (leases/agent-client.ts). */
const bindWaitMs = 2000;

export type CleanBrowser = {
  /** A client begins to use the browser. */
  use(): void;
  /** Its holder changes what it is made with: only a reset makes it clean again. */
  change(): void;
  /** Its next holder may have it as it is. A changed browser is made anew instead, as by `reset`. */
  keep(): void;
  /** Makes a used browser anew, in the background. */
  reset(): void;
  isResetting(): boolean;
  /** Whether a client has used it since it was clean. */
  isUsed(): boolean;
  /** Resolves when no reset is under way, with whether the browser answers. */
  isWell(): Promise<boolean>;
  /** Why the browser can't be given to a lease now; undefined when it is clean and answers. Resets a used browser. */
  whyNotNow(): Promise<"browser_unhealthy" | "resetting" | undefined>;
};

/** A browser that no client has used. */
export const createCleanBrowser = (browser: Pick<Browser, "isHealthy" | "reset">, log: Logger): CleanBrowser => {
  let isUsed = false;
  let isChanged = false;
  let resetting: Promise<void> | undefined;
  const reset = (): void => {
    if (!isUsed || resetting !== undefined) return;
    const startMs = performance.now();
    resetting = browser.reset().then(() => {
      isUsed = false;
      isChanged = false;
      resetting = undefined;
      log.info({ ms: Math.round(performance.now() - startMs) }, "browser made anew");
    });
  };
  return {
    use() {
      isUsed = true;
    },
    change() {
      isUsed = true;
      isChanged = true;
    },
    keep() {
      if (isChanged) reset();
      else isUsed = false;
    },
    reset,
    isUsed: () => isUsed,
    isResetting: () => resetting !== undefined,
    async isWell() {
      await resetting;
      return browser.isHealthy();
    },
    async whyNotNow() {
      reset();
      if (resetting !== undefined) await Promise.race([resetting, sleep(bindWaitMs, undefined, { ref: false })]);
      if (resetting !== undefined) return "resetting";
      return (await browser.isHealthy()) ? undefined : "browser_unhealthy";
    },
  };
};
