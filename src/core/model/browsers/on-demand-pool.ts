import type { BrowserPoolSpec } from "../pools/browser-pool.ts";
import type { BrowserSpec } from "./browser.ts";

const settingsOf = ({ name: _, tags: __, vaults: ___, gpu, profile, ...settings }: BrowserSpec) => {
  const { saveChanges = false, ...selector } = profile ?? {};
  return {
    ...settings,
    ...(gpu && { gpu }),
    ...(profile && { profile: selector }),
    ...(saveChanges && { savesProfile: true }),
  };
};

/** The spec of a pool, or of an on-demand browser as one. Only an on-demand browser can have the further fields. */
export type PoolLikeSpec = BrowserPoolSpec & {
  gpu?: boolean | undefined;
  savesProfile?: boolean | undefined;
  reportOutcome?: boolean | undefined;
};

/** The spec of a pool of one whose browser is configured like this on-demand browser; nothing fills it. */
export const onDemandPoolSpec = (spec: BrowserSpec): PoolLikeSpec => ({
  ...settingsOf(spec),
  region: "us-east",
  memory: "8GiB",
  // Never asked for: the browser is destroyed at the end of its one session.
  reusePolicy: "reset",
  serveOnDemand: false,
  size: 1,
  fillRatePerMinute: 0,
});
