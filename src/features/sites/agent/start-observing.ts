import type { AgentConfig } from "../../../core/agent/agent-config.ts";
import type { Browser } from "../../../core/agent/browser.ts";
import type { ObserveSession } from "../../../core/agent/holder-changes.ts";
import type { ReceivedSetup } from "../../../core/agent/receive-setup.ts";
import type { Logger } from "../../../platform/base/log.ts";

type ObservingDeps = {
  config: Pick<AgentConfig, "browser" | "exampleAddress">;
  received: ReceivedSetup | undefined;
  browser: Pick<Browser, "devTools" | "addressOf" | "hasWall">;
  log: Logger;
};

/** Watches sessions in this browser. What it needs for that is loaded for the first one. */
export const startObserving =
  ({ config, received, browser, log }: ObservingDeps): ObserveSession =>
  async ({ start_url }, note, signal) => {
    try {
      const { observeSession } = await import("./observe-session.ts");
      if (signal.aborted) return;
      const ignored = [config.browser.start_url, start_url].filter((url) => url !== undefined);
      const isProxied = received?.setup.network?.proxy !== undefined;
      const { exampleAddress } = config;
      const addressOf = browser.hasWall() ? browser.addressOf : undefined;
      await observeSession({ place: browser.devTools(), ignored, isProxied, addressOf, exampleAddress, note }, signal);
    } catch (error) {
      // Its text could name what the page is.
      if (!signal.aborted)
        log.warn({ why: error instanceof Error ? error.name : "unknown" }, "a session is not watched");
    }
  };
