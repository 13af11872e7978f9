import { notSupportedHere } from "../../platform/base/errors.ts";
import { wireProblems } from "../../platform/rules/problem.ts";
import type { Config } from "../config/config.ts";
import { BrowserSpec } from "../model/browsers/browser.ts";
import { BrowserPoolSpec } from "../model/pools/browser-pool.ts";
import { featureProblems } from "../model/settings/browser-features.ts";

/** The settings of pools and browsers, for the paths of both. */
const Settings = BrowserPoolSpec.extend({
  gpu: BrowserSpec.shape.gpu,
  location: BrowserSpec.shape.location,
  reportOutcome: BrowserSpec.shape.reportOutcome,
});

/**
 * Throws `not_supported_here` for settings that this installation can't carry out, unless `before` has them already.
 */
export const requireFeatures = (
  spec: Parameters<typeof featureProblems>[0],
  { config }: { config: Config },
  before?: Parameters<typeof featureProblems>[0],
): void => {
  const problems = featureProblems(spec, config.browserFeatures, before);
  if (problems.length > 0) throw notSupportedHere(wireProblems(Settings, problems));
};
