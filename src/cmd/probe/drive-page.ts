import { setTimeout as sleep } from "node:timers/promises";
import { connectCdp } from "../../platform/cdp/cdp-connection.ts";

/** Between two reads of the page's title, ms. */
const pollEveryMs = 50;

const title = "browserpool probe";
const page = `data:text/html,<title>${title}</title>`;

/** The session's URL at the probed service's address: the URL in the answer may be for other callers. */
export const urlThrough = (cdpUrl: string, serviceUrl: string): string => {
  const url = new URL(cdpUrl);
  const { protocol, host } = new URL(serviceUrl);
  url.protocol = protocol === "https:" ? "wss:" : "ws:";
  url.host = host;
  return url.href;
};

/** Opens a page in the browser at `url`, checks its title, and closes it. Rejects when any step fails. */
export const drivePage = async (url: string, signal: AbortSignal): Promise<void> => {
  await using browser = await connectCdp({ url, headers: {} }, signal);
  const { targetId } = await browser.send("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await browser.send("Target.attachToTarget", { targetId, flatten: true });
  await browser.send("Page.navigate", { url: page }, { sessionId });
  // The browser answers when the page begins to load; its title follows a moment later.
  for (;;) {
    const { result } = await browser.send("Runtime.evaluate", { expression: "document.title" }, { sessionId });
    if (result.value === title) break;
    await sleep(pollEveryMs, undefined, { signal });
  }
  await browser.send("Target.closeTarget", { targetId });
};
