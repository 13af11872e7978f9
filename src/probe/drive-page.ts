import { setTimeout as sleep } from "node:timers/promises";
import { connectCdp } from "../cdp/cdp-connection.ts";

/** Between two looks at the page, ms. */
const lookEveryMs = 50;

const title = "browserpool probe";
const page = `data:text/html,<title>${title}</title>`;

/** The session's URL at the service that is probed: the one in the answer may be for callers elsewhere. */
export const urlThrough = (cdpUrl: string, serviceUrl: string): string => {
  const url = new URL(cdpUrl);
  const { protocol, host } = new URL(serviceUrl);
  url.protocol = protocol === "https:" ? "wss:" : "ws:";
  url.host = host;
  return url.href;
};

/** Opens a page in the browser behind `url`, looks at what it shows, and closes it. Rejects when any of that fails. */
export const drivePage = async (url: string, signal: AbortSignal): Promise<void> => {
  await using browser = await connectCdp({ url, headers: {} }, signal);
  const { targetId } = await browser.send("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await browser.send("Target.attachToTarget", { targetId, flatten: true });
  await browser.send("Page.navigate", { url: page }, { sessionId });
  // The answer comes when the page begins; its title is there a moment later.
  for (;;) {
    const { result } = await browser.send("Runtime.evaluate", { expression: "document.title" }, { sessionId });
    if (result.value === title) break;
    await sleep(lookEveryMs, undefined, { signal });
  }
  await browser.send("Target.closeTarget", { targetId });
};
