import { setTimeout as sleep } from "node:timers/promises";
import type { CdpConnection } from "../../platform/cdp/cdp-connection.ts";
import type { PageOrder } from "./page-order.ts";

/** A browser that has just started has its first page a moment after DevTools answers. */
const firstPageTries = 5;
const firstPagePauseMs = 200;

const timeoutMs = 5000;

/** A server may take its time until it answers; the page keeps loading after that. */
const navigateTimeoutMs = 30_000;

const firstPage = async (cdp: CdpConnection, order: PageOrder): Promise<string | undefined> => {
  for (let tries = 1; ; tries += 1) {
    const { targetInfos } = await cdp.send("Target.getTargets", {}, { timeoutMs });
    const page = order.sorted(targetInfos).find(({ type }) => type === "page");
    if (page || tries === firstPageTries) return page?.targetId;
    await sleep(firstPagePauseMs);
  }
};

/**
 * Opens `url` in the browser's oldest page, or in a new one when it has none. Rejects when Chromium does not take the
 * URL.
 */
export const openUrl = async (cdp: CdpConnection, order: PageOrder, url: string): Promise<void> => {
  const targetId = await firstPage(cdp, order);
  if (targetId === undefined) {
    await cdp.send("Target.createTarget", { url }, { timeoutMs });
    return;
  }
  const { sessionId } = await cdp.send("Target.attachToTarget", { targetId, flatten: true }, { timeoutMs });
  try {
    await cdp.send("Page.navigate", { url }, { sessionId, timeoutMs: navigateTimeoutMs });
  } finally {
    await cdp.send("Target.detachFromTarget", { sessionId }, { timeoutMs });
  }
};
