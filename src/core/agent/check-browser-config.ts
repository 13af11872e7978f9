import { BrowserConfig } from "../protocol/agent-api.ts";
import type { AgentConfig } from "./agent-config.ts";

/**
 * Throws for settings that are none of a browser, with the names of all bad ones and without a value. They come from the
 * operator, which has checked them, so Chromium's start need not wait for this.
 */
export const checkBrowserConfig = ({ browser }: Pick<AgentConfig, "browser">): void => {
  const { error } = BrowserConfig.safeParse(browser);
  if (!error) return;
  const problems = error.issues.map(({ path, message }) => `${["BROWSERPOOL_BROWSER", ...path].join(".")}: ${message}`);
  throw new Error(`the agent cannot start: ${problems.join("; ")}`);
};
