/** A page on a loopback address, and the marks that holders leave in it. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { eventually } from "../../support/eventually.ts";
import { cookieOf, type RawCdp } from "../../support/raw-cdp.ts";
import type { Marks } from "./ledger.ts";

export type Site = { url: string; [Symbol.asyncDispose](): Promise<void> };

export const startSite = async (): Promise<Site> => {
  const server = createServer((_request, response) =>
    response.setHeader("content-type", "text/html").end("<title>marks</title>"),
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
};

type Target = { targetId: string; type: string; url: string };

/** The tab that shows the site; undefined when there is none. */
const tabOf = async (cdp: RawCdp, { url }: Site): Promise<string | undefined> => {
  const { targetInfos } = await cdp.send<{ targetInfos: Target[] }>("Target.getTargets");
  return targetInfos.find((target) => target.type === "page" && target.url === url)?.targetId;
};

/** Sends one command to a tab. */
const sendTo = async <Result>(cdp: RawCdp, targetId: string, method: string, params: object): Promise<Result> => {
  const { sessionId } = await cdp.send<{ sessionId: string }>("Target.attachToTarget", { targetId, flatten: true });
  const result = await cdp.send<Result>(method, params, sessionId);
  await cdp.send("Target.detachFromTarget", { sessionId });
  return result;
};

/** Runs an expression in a tab and answers its value. */
const evaluateIn = async (cdp: RawCdp, targetId: string, expression: string): Promise<unknown> => {
  type Evaluated = { result: { value?: unknown } };
  const params = { expression, returnByValue: true };
  return (await sendTo<Evaluated>(cdp, targetId, "Runtime.evaluate", params)).result.value;
};

/** What is in the browser, whoever has left it. */
export const readMarks = async (cdp: RawCdp, site: Site): Promise<Marks> => {
  const tab = await tabOf(cdp, site);
  return {
    cookie: await cookieOf(cdp, "holder"),
    browser: await cookieOf(cdp, "browser"),
    windowName: tab && String(await evaluateIn(cdp, tab, "window.name")),
  };
};

/**
 * Opens a tab. Its navigation is answered when the site's document is in it, which a tab opened with a URL does not
 * say.
 */
const openSite = async (cdp: RawCdp, { url }: Site): Promise<string> => {
  const { targetId } = await cdp.send<{ targetId: string }>("Target.createTarget", { url: "about:blank" });
  const { errorText } = await sendTo<{ errorText?: string }>(cdp, targetId, "Page.navigate", { url });
  if (errorText) throw new Error(`the site can't be opened: ${errorText}`);
  return targetId;
};

/**
 * Puts a holder's name over that of the one before, as the page's own script would. Resolves when the cookies are in
 * the browser's store: a page hands them over without waiting.
 */
export const leaveMarks = async (
  cdp: RawCdp,
  site: Site,
  { holder, browser }: { holder: string; browser: string },
): Promise<void> => {
  const tab = (await tabOf(cdp, site)) ?? (await openSite(cdp, site));
  const cookie = (name: string, value: string): string => `document.cookie = "${name}=${value}; path=/; max-age=86400"`;
  const script = [`window.name = "${holder}"`, cookie("holder", holder), cookie("browser", browser)];
  await evaluateIn(cdp, tab, script.join("; "));
  await eventually(
    "the cookies are stored",
    async () => (await cookieOf(cdp, "holder")) === holder && (await cookieOf(cdp, "browser")) === browser,
  );
};
