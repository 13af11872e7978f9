/** Tells a holder's client of its browser what Chromium tells at its own port: it asks Chromium over CDP. */
import { type CallHandler, CallRefused, callHandler } from "../../../core/agent/call-routes.ts";
import { connectDevTools, type DevToolsPlace } from "../../../core/agent/connect-dev-tools.ts";
import type { CdpConnection } from "../../../platform/cdp/cdp-connection.ts";
import { listTargets, longestText, readVersion, type Target } from "../calls.ts";

/** For an answer of Chromium, ms. */
const timeoutMs = 5000;

/** Most bytes of Chromium's answer: pages say themselves how long their titles and URLs are. */
const maxBytes = 32 * 1024 * 1024;

/** Most targets that are told. */
const mostTargets = 1000;

const short = (text: string): string => text.slice(0, longestText).toWellFormed();

/** What Chromium's port tells at `/json/version`, but for the URL of its WebSocket. */
export const versionOf = async (cdp: CdpConnection) => {
  const { product, protocolVersion, userAgent, jsVersion } = await cdp.send("Browser.getVersion", undefined, {
    timeoutMs,
  });
  return {
    Browser: product,
    "Protocol-Version": protocolVersion,
    "User-Agent": userAgent,
    "V8-Version": jsVersion,
  };
};

/** What it tells at `/json/list`, but for the URLs of WebSockets. */
export const targetsOf = async (cdp: CdpConnection): Promise<Target[]> => {
  const { targetInfos } = await cdp.send("Target.getTargets", {}, { timeoutMs });
  return targetInfos
    .slice(0, mostTargets)
    .map(({ targetId: id, type, title, url }) => ({ id, type, title: short(title), url: short(url) }));
};

/** `devTools`: of the present Chromium. */
export const createDevToolsCalls = (devTools: () => DevToolsPlace): { handlers: readonly CallHandler[] } => {
  const ask = async <T>(read: (cdp: CdpConnection) => Promise<T>): Promise<{ value: T }> => {
    try {
      await using cdp = await connectDevTools(devTools(), { maxBytes });
      return { value: await read(cdp) };
    } catch (cause) {
      throw new CallRefused("browser_unhealthy", "Chromium's DevTools did not answer", { cause });
    }
  };
  return { handlers: [callHandler(readVersion, () => ask(versionOf)), callHandler(listTargets, () => ask(targetsOf))] };
};
