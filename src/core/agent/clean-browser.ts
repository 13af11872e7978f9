/**
 * The browser between two leases: whether the next holder may have it.
 *
 *            use              reset
 *   clean ────────► used ───────────► resetting ────► clean
 *                   │  ▲                 ▲
 *              keep │  │ use             │ a lease that takes no kept browser;
 *                   ▼  │                 │ a tab that does not answer and can't be closed
 *                   kept ────────────────┘
 *
 * clean      nobody has used this Chromium.
 * used       only its present holder may have it.
 * kept       the pool hands browsers on as they stand: any lease may have it that takes what former holders have left. Tabs that do not
 *            answer are closed at the end of the lease, and again before the next one. A browser whose holder has changed what it is
 *            made with is reset instead.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../../platform/base/log.ts";
import type { Browser } from "./browser.ts";
import type { StepTimes } from "./step-times.ts";

/**
 * How long a bind waits for a reset, ms: less than its caller waits for the agent (core/leases/agent/agent-client.ts).
 */
const bindWaitMs = 2000;

/**
 * How long a tab of a kept browser may take to answer, ms: when its lease has ended, and while the next holder waits
 * for it.
 */
const tabAnswerMs = { ended: 3000, binding: 1000 };

export type CleanBrowser = {
  /** A client begins to use the browser. */
  use(): void;
  /** Its holder changes what it is made with: only a reset makes it clean again. */
  change(): void;
  /**
   * Its next holder may have it as it is, once its tabs answer. A changed browser is made anew instead, as by `reset`.
   */
  keep(): void;
  /** Makes a used browser anew, in the background. */
  reset(): void;
  /** Whether it is being made anew, or its tabs are tried. */
  isResetting(): boolean;
  /** Whether a client has used it since it was clean or kept. */
  isUsed(): boolean;
  /** Whether it has what former holders have left. */
  isKept(): boolean;
  /** Resolves when no reset is under way, with whether the browser answers. `times`: told of the steps. */
  isWell(times?: StepTimes): Promise<boolean>;
  /**
   * Why the browser can't be given to a lease now; undefined when the lease may have it and it answers. Resets a used
   * browser, and a kept one unless `takesKept`. `times`: told of the steps.
   */
  whyNotNow(takesKept: boolean, times?: StepTimes): Promise<"browser_unhealthy" | "resetting" | undefined>;
};

/** A browser that no client has used. */
export const createCleanBrowser = (
  browser: Pick<Browser, "isHealthy" | "reset" | "freeTabs" | "clearFiles">,
  log: Logger,
): CleanBrowser => {
  let state: "clean" | "used" | "kept" = "clean";
  let isChanged = false;
  let working: Promise<void> | undefined;
  const work = (task: () => Promise<void>): void => {
    working ??= task().finally(() => {
      working = undefined;
    });
  };
  const makeAnew = async (): Promise<void> => {
    const startMs = performance.now();
    await browser.reset();
    state = "clean";
    isChanged = false;
    log.info({ ms: Math.round(performance.now() - startMs) }, "browser made anew");
  };
  const freeTabs = async (answerMs: number): Promise<void> => {
    const outcome = await browser.freeTabs(answerMs);
    if (outcome.closed > 0) log.info({ tabs: outcome.closed }, "tabs that did not answer were closed");
    if (!outcome.isFree) await makeAnew();
  };
  /** What a holder leaves in a browser that is kept are its tabs and what sites have stored, not its files. */
  const leaveKept = async (): Promise<void> => {
    const isCleared = await browser.clearFiles();
    await (isCleared ? freeTabs(tabAnswerMs.ended) : makeAnew());
  };
  const reset = (): void => {
    if (state === "used") work(makeAnew);
  };
  const isHealthy = async (times?: StepTimes): Promise<boolean> => {
    const healthy = await browser.isHealthy();
    times?.ended("health_check");
    return healthy;
  };
  return {
    use() {
      state = "used";
    },
    change() {
      state = "used";
      isChanged = true;
    },
    keep() {
      if (state !== "used") return;
      if (isChanged) return reset();
      state = "kept";
      work(leaveKept);
    },
    reset,
    isUsed: () => state === "used",
    isKept: () => state === "kept",
    isResetting: () => working !== undefined,
    async isWell(times) {
      const hasWaited = working !== undefined;
      await working;
      if (hasWaited) times?.ended("reset");
      return isHealthy(times);
    },
    async whyNotNow(takesKept, times) {
      const late = sleep(bindWaitMs, undefined, { ref: false });
      const hasWaited = working !== undefined;
      await Promise.race([working, late]);
      if (state !== "kept") reset();
      else work(takesKept ? () => freeTabs(tabAnswerMs.binding) : makeAnew);
      const waits = working !== undefined;
      await Promise.race([working, late]);
      if (working !== undefined) return "resetting";
      if (hasWaited || waits) times?.ended("reset");
      return (await isHealthy(times)) ? undefined : "browser_unhealthy";
    },
  };
};
