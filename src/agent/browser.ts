/**
 * The agent's browser: one Chromium after another, all made with the same configuration.
 *
 *   up ──── reset ────► resetting ────► up
 *    │                      │
 *    │ Chromium ends        │ Chromium does not come back
 *    ▼                      ▼
 *   ended ◄─────────────────┘
 *
 * up         Chromium answers DevTools.
 * resetting  the old Chromium is killed with its whole process group, what it has written is moved out of the way, and a new
 *            one starts in a new folder. Nobody may use the browser in this state.
 * ended      for good: the agent ends with the reason, and the operator replaces the pod.
 */
import { rm } from "node:fs/promises";
import { awaitWith } from "../await-with.ts";
import type { Termination } from "../protocol/agent-api.ts";
import type { AgentConfig } from "./agent-config.ts";
import { type Chromium, groupsFileOf, startChromium } from "./chromium.ts";
import type { DevToolsPlace } from "./connect-dev-tools.ts";
import type { ReceivedSetup } from "./receive-setup.ts";
import { clearScratch } from "./scratch.ts";

export type Browser = {
  /** Of the present Chromium: each reset gives another place. */
  devTools(): DevToolsPlace;
  /** Makes one CDP round trip; false when Chromium does not answer within 2 s, and during a reset. */
  isHealthy(): Promise<boolean>;
  /** Opens a URL in the first page in the background, best effort. */
  open(url: string): void;
  /** Makes the browser anew, with nothing of the present one. Resolves when it is up, or has ended instead. Never rejects. */
  reset(): Promise<void>;
  /** Resolves with why the browser ended by itself. Never rejects. */
  ended: Promise<Termination>;
  /** Ends every process and removes the browser's folder. `atOnce`: kills Chromium, which then saves nothing. */
  stop(atOnce: boolean): Promise<void>;
};

/** Longest time of a reset, ms: a start of Chromium, and some seconds for what a holder has left on the disk. */
const resetDeadlineMs = 40_000;

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Starts the configured browser and opens its `start_url`. `signal` aborts this start and that of every reset. */
export const startBrowser = async (
  config: AgentConfig,
  received: ReceivedSetup | undefined,
  signal: AbortSignal,
): Promise<Browser> => {
  const ended = Promise.withResolvers<Termination>();
  let resetting: Promise<void> | undefined;
  /** The Chromium that the last reset has ended. */
  let former: Chromium | undefined;

  const start = async (stop: AbortSignal): Promise<Chromium> => {
    const started = await startChromium(config, received, stop);
    void started.ended.then((how) => {
      if (started !== former) ended.resolve({ reason: "browser_crashed", message: how });
    });
    if (config.browser.start_url) started.open(config.browser.start_url);
    return started;
  };
  const forgetGroups = (): Promise<void> => rm(groupsFileOf(config), { force: true });
  let chromium = await start(signal).catch(async (error: unknown) => {
    await forgetGroups();
    throw error;
  });

  const startAnew = async (): Promise<void> => {
    const late = AbortSignal.timeout(resetDeadlineMs);
    try {
      former = chromium;
      const { gone } = await former.kill();
      await forgetGroups();
      const { remove } = await clearScratch(config);
      // The kernel takes its time to free the memory of killed processes, and the disk to free the files.
      const deleting = awaitWith(gone.then(former.stop).then(remove), late);
      deleting.catch(() => undefined);
      chromium = await start(AbortSignal.any([signal, late]));
      await deleting;
    } catch (error) {
      ended.resolve({ reason: "reset_failed", message: `the browser did not come back: ${messageOf(error)}` });
    }
  };

  return {
    devTools: () => chromium.devTools,
    isHealthy: async () => !resetting && (await chromium.isHealthy()),
    open: (url) => chromium.open(url),
    reset() {
      resetting ??= startAnew().finally(() => {
        resetting = undefined;
      });
      return resetting;
    },
    ended: ended.promise,
    async stop(atOnce) {
      await resetting;
      if (atOnce) await (await chromium.kill()).gone;
      await chromium.stop();
      await forgetGroups();
    },
  };
};
