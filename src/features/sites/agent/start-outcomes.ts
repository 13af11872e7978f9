import type { AgentConfig } from "../../../core/agent/agent-config.ts";
import type { Browser } from "../../../core/agent/browser.ts";
import type { FollowOutcome } from "../../../core/agent/holder-changes.ts";
import type { ReceivedSetup } from "../../../core/agent/receive-setup.ts";
import type { Logger } from "../../../platform/base/log.ts";

type OutcomeDeps = {
  config: Pick<AgentConfig, "browser" | "exampleAddress">;
  received: ReceivedSetup | undefined;
  browser: Pick<Browser, "devTools" | "addressOf" | "hasWall">;
  log: Logger;
};

/** Watches sessions in this browser. What it needs for that is loaded for the first one. */
export const startOutcomes =
  ({ config, received, browser, log }: OutcomeDeps): FollowOutcome =>
  async ({ start_url }, note, signal) => {
    try {
      const { followSessionOutcome } = await import("./session-outcome.ts");
      if (signal.aborted) return;
      const ignored = [config.browser.start_url, start_url].filter((url) => url !== undefined);
      const isProxied = received?.setup.network?.proxy !== undefined;
      const { exampleAddress } = config;
      const addressOf = browser.hasWall() ? browser.addressOf : undefined;
      await followSessionOutcome(
        { place: browser.devTools(), ignored, isProxied, addressOf, exampleAddress, note },
        signal,
      );
    } catch (error) {
      // Its text could name what the page is.
      if (!signal.aborted)
        log.warn({ why: error instanceof Error ? error.name : "unknown" }, "a session is not watched");
    }
  };
