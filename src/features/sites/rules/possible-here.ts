/**
 * Whether this installation can carry a configuration out: what a lookup recommends, `POST /proxies` and `POST
 * /browsers` accept.
 */

import { type BrowserFeature, featureProblems } from "../../../core/model/settings/browser-features.ts";
import type { ProxySpec } from "../../proxies/proxy.ts";
import { proxyProblems } from "../../proxies/rules/proxy-problems.ts";
import { type ProxyProvider, unsupportedSettings } from "../../proxies/rules/proxy-provider.ts";
import type { Recipe } from "../site-recipe.ts";

/** What an installation has. */
export type Installation = { browserFeatures: readonly BrowserFeature[]; proxyProvider: ProxyProvider };

/** Knowledge comes from other installations too, which may have GPUs, and proxies of other types and places. */
export const isPossibleHere = (
  { browser, proxy }: Recipe,
  { browserFeatures, proxyProvider }: Installation,
): boolean => {
  if (browser.gpu && browser.headless) return false;
  const settings = { gpu: browser.gpu, ...(proxy && { proxyId: "that of the recipe" }) };
  if (featureProblems(settings, browserFeatures).length > 0) return false;
  const spec: ProxySpec | undefined = proxy && { protocol: undefined, ...proxy };
  return !spec || (proxyProblems(spec).length === 0 && unsupportedSettings(spec, proxyProvider).length === 0);
};
