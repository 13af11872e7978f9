import type { Protocol } from "devtools-protocol";
import { FillRefused } from "./fill-result.ts";

/** Pages of the browser itself; nobody logs in there. */
const ownPages = /^(?:chrome|chrome-untrusted|chrome-extension|devtools):/;

/**
 * The one open top-level page that is meant, as the browser lists them (FILL-12, FILL-13): the one with exactly this
 * URL, fragment included, or the only one. Throws `page_not_found` or `page_ambiguous`.
 */
export const choosePage = (targets: Protocol.Target.TargetInfo[], pageUrl: string | undefined): string => {
  const [page, ...others] = targets
    // A page with a subtype is rendered ahead of time and is not open yet.
    .filter(({ type, subtype }) => type === "page" && subtype === undefined)
    .filter(({ url }) => !ownPages.test(url))
    .filter(({ url }) => pageUrl === undefined || url === pageUrl);
  if (!page) throw new FillRefused("page_not_found");
  if (others.length > 0) throw new FillRefused("page_ambiguous");
  return page.targetId;
};
