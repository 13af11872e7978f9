import type { BrowserPoolStatus } from "../../model/pools/browser-pool.ts";
import type { ObservedPod } from "../observe/observed.ts";

type Counted = NonNullable<BrowserPoolStatus["chromiumVersions"]>;

const most = 4;

const newerFirst = new Intl.Collator("en", { numeric: true });

/**
 * The versions of Chromium that run in these pods, newest first, as far as their agents have told them. Bounded: a
 * browser can be made to say anything.
 */
export const chromiumVersions = (pods: readonly Pick<ObservedPod, "browser" | "state">[]): Counted => {
  const counts = new Map<string, number>();
  for (const { browser, state } of pods)
    if (state.is === "known" && browser?.chromium)
      counts.set(browser.chromium, (counts.get(browser.chromium) ?? 0) + 1);
  return [...counts]
    .sort(([a], [b]) => newerFirst.compare(b, a))
    .slice(0, most)
    .map(([version, browsers]) => ({ version, browsers }));
};
