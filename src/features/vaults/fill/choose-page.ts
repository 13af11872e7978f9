import type { Protocol } from "devtools-protocol";
import { FillRefused } from "./fill-result.ts";

/** Pages of the browser itself; they have no login. */
const ownPages = /^(?:chrome|chrome-untrusted|chrome-extension|devtools):/;

/**
 * Chooses the open top-level page from the browser's list (FILL-12, FILL-13): the page with exactly this URL, fragment included, or
 * the only page. Throws `page_not_found` or `page_ambiguous`.
 */
export const choosePage = (targets: Protocol.Target.TargetInfo[], pageUrl: string | undefined): string => {
  const [page, ...others] = targets
    // A page with a subtype is prerendered and is not open yet.
    .filter(({ type, subtype }) => type === "page" && subtype === undefined)
    .filter(({ url }) => !ownPages.test(url))
    .filter(({ url }) => pageUrl === undefined || url === pageUrl);
  if (!page) throw new FillRefused("page_not_found");
  if (others.length > 0) throw new FillRefused("page_ambiguous");
  return page.targetId;
};
