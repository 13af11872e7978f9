import type { BrowserSpec } from "../resources/browser.ts";
import type { BrowserPoolSpec } from "../resources/browser-pool.ts";

const settingsOf = ({ name: _, tags: __, gpu: ___, vaults: ____, ...settings }: BrowserSpec) => settings;

/** The spec of a pool of one whose browser is configured like this on-demand browser; nothing fills it. */
export const onDemandPoolSpec = (spec: BrowserSpec): BrowserPoolSpec => ({
  ...settingsOf(spec),
  region: "us-east",
  memory: "8GiB",
  // Never asked for: the browser is destroyed at the end of its one session.
  reusePolicy: "reset",
  size: 1,
  fillRatePerMinute: 0,
});
