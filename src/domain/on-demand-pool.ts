import type { BrowserSpec } from "../resources/browser.ts";
import type { BrowserPoolSpec } from "../resources/browser-pool.ts";

const settingsOf = ({ name: _, tags: __, vaults: ___, gpu, ...settings }: BrowserSpec) => ({
  ...settings,
  ...(gpu && { gpu }),
});

/** The spec of a pool, or of an on-demand browser as one. Only an on-demand browser can have a GPU. */
export type PoolLikeSpec = BrowserPoolSpec & { gpu?: boolean | undefined };

/** The spec of a pool of one whose browser is configured like this on-demand browser; nothing fills it. */
export const onDemandPoolSpec = (spec: BrowserSpec): PoolLikeSpec => ({
  ...settingsOf(spec),
  region: "us-east",
  memory: "8GiB",
  // Never asked for: the browser is destroyed at the end of its one session.
  reusePolicy: "reset",
  size: 1,
  fillRatePerMinute: 0,
});
