import type { RecommendationAnswer } from "./site-wire.ts";

/** A configuration in words, for people: `headless, stealth, isp proxy in US`. */
export const configurationName = ({ browser, proxy }: Pick<RecommendationAnswer, "browser" | "proxy">): string => {
  const country = proxy.mode === "managed" ? proxy.create.config?.country : undefined;
  return [
    browser.headless ? "headless" : "headful",
    ...(browser.stealth ? ["stealth"] : []),
    ...(browser.gpu ? ["gpu"] : []),
    proxy.mode === "direct" ? "direct" : `${proxy.create.type} proxy${country ? ` in ${country}` : ""}`,
  ].join(", ");
};
