/** What a holder of CDP can do beyond what pages can. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Attempt } from "./attempt.ts";
import { byRules, type Row } from "./attempt.ts";

/** Opens the forbidden URL in a context with a proxy of its own. */
const inContext = async (
  { browser, id }: Attempt,
  { proxyServer, proxyBypassList, url }: { proxyServer?: string; proxyBypassList?: string; url: string },
): Promise<void> => {
  const root = await browser.target().createCDPSession();
  const { browserContextId } = await root.send("Target.createBrowserContext", {
    ...(proxyServer !== undefined && { proxyServer }),
    ...(proxyBypassList !== undefined && { proxyBypassList }),
    disposeOnDetach: true,
  });
  await root.send("Target.createTarget", { url: `${url}?${id}`, browserContextId });
};

const own = ({ url }: Attempt): string => new URL(url()).hostname;

const contexts: Row[] = [
  byRules("a new context's target", (attempt) => inContext(attempt, { url: attempt.url() })),
  byRules(
    "a context without a proxy (direct://)",
    (attempt) => inContext(attempt, { proxyServer: "direct://", url: attempt.url() }),
    "plain",
  ),
  byRules(
    "a context that bypasses its proxy for all hosts",
    (attempt) => inContext(attempt, { proxyServer: "http://127.0.0.1:3128", proxyBypassList: "*", url: attempt.url() }),
    "plain",
  ),
  byRules(
    "a context with another HTTP proxy",
    (attempt) => inContext(attempt, { proxyServer: `http://${own(attempt)}:${attempt.port}`, url: attempt.url() }),
    "plain",
  ),
  byRules(
    "a context with another HTTPS proxy",
    (attempt) => inContext(attempt, { proxyServer: `https://${own(attempt)}:${attempt.tcp}`, url: attempt.url() }),
    "plain",
  ),
  ...["socks4", "socks5"].map((scheme) =>
    byRules(
      `a context with a proxy of ${scheme}`,
      (attempt) =>
        inContext(attempt, { proxyServer: `${scheme}://${own(attempt)}:${attempt.tcp}`, url: attempt.url() }),
      "plain",
    ),
  ),
  byRules(
    "a context with a QUIC proxy",
    (attempt) =>
      inContext(attempt, { proxyServer: `direct://,quic://${own(attempt)}:${attempt.udp}`, url: attempt.url() }),
    "plain",
  ),
];

const commands: Row[] = [
  byRules("Target.createTarget", async ({ browser, url }) => {
    const root = await browser.target().createCDPSession();
    await root.send("Target.createTarget", { url: url() });
  }),
  byRules("Page.navigate with another referrer", ({ cdp, url, site }) =>
    cdp.send("Page.navigate", { url: url(), referrer: site.url }),
  ),
  byRules("a request of an allowed page that Fetch.continueRequest sends elsewhere", async ({ cdp, site, url }) => {
    await cdp.send("Fetch.enable", { patterns: [{ urlPattern: "*" }] });
    cdp.on(
      "Fetch.requestPaused",
      ({ requestId }) => void cdp.send("Fetch.continueRequest", { requestId, url: url() }).catch(() => 0),
    );
    await cdp.send("Page.navigate", { url: site.url });
  }),
  byRules("Network.loadNetworkResource", async ({ cdp, url }) => {
    const { frameTree } = await cdp.send("Page.getFrameTree");
    await cdp.send("Network.loadNetworkResource", {
      frameId: frameTree.frame.id,
      url: url(),
      options: { disableCache: true, includeCredentials: false },
    });
  }),
  byRules("Page.setDocumentContent", async ({ cdp, url }) => {
    const { frameTree } = await cdp.send("Page.getFrameTree");
    await cdp.send("Page.setDocumentContent", { frameId: frameTree.frame.id, html: `<img src="${url()}">` });
  }),
  byRules("a download by a navigation", async ({ browser, cdp, folder, url }) => {
    const root = await browser.target().createCDPSession();
    await root.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: folder });
    await cdp.send("Page.navigate", { url: url("txt") });
  }),
  byRules("a page of file:", async ({ page, folder, url }) => {
    const file = join(folder, "page.html");
    await writeFile(file, `<img src="${url()}">`);
    await page.goto(`file://${file}`);
  }),
  byRules("a frame that is added to chrome://version", async ({ page, url }) => {
    await page.goto("chrome://version");
    await page.evaluate(
      `document.documentElement.append(Object.assign(document.createElement("iframe"), { src: ${JSON.stringify(url())} }))`,
    );
    await page.evaluate(`location.href = ${JSON.stringify(url())}`);
  }),
  byRules("a fetch with CSP switched off and certificates ignored", async ({ cdp, page, url }) => {
    await cdp.send("Page.setBypassCSP", { enabled: true });
    await cdp.send("Security.setIgnoreCertificateErrors", { ignore: true });
    await page.evaluate(`fetch(${JSON.stringify(url())})`);
  }),
  byRules("a request while a proxy's credentials are given by CDP", async ({ page, url }) => {
    await page.authenticate({ username: "u", password: "p" });
    await page.goto(url());
  }),
];

/** Rows that speak CDP. */
export const cdpRows: Row[] = [...contexts, ...commands];
