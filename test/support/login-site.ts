/**
 * A site with a login, for what a profile keeps: cookies with and without an expiry, local storage, IndexedDB, a
 * service worker.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import puppeteer, { type Page } from "puppeteer-core";

export type LoginSite = AsyncDisposable & {
  url: string;
  /** Logs in, in a new tab of the session at this `cdp_ws_url`. */
  logIn(cdpUrl: string): Promise<void>;
  /** Clears the site's cookies and storage there. */
  logOut(cdpUrl: string): Promise<void>;
  /** What the site finds in that browser, without anything being set. */
  found(cdpUrl: string): Promise<unknown>;
};

const worker = `
  self.addEventListener("install", () => self.skipWaiting());
  self.addEventListener("activate", (event) => event.waitUntil(clients.claim()));
  self.addEventListener("fetch", (event) => {
    if (new URL(event.request.url).pathname === "/from-worker") event.respondWith(new Response("the worker"));
  });`;

/** As text: the types of pages are not those of these tests. */
const stores = `(async () => {
  localStorage.setItem("stored", "locally");
  const opened = indexedDB.open("database", 1);
  opened.onupgradeneeded = () => opened.result.createObjectStore("objects");
  await new Promise((resolve) => (opened.onsuccess = resolve));
  const write = opened.result.transaction("objects", "readwrite");
  write.objectStore("objects").put("indexed", "key");
  await new Promise((resolve) => (write.oncomplete = resolve));
  await navigator.serviceWorker.register("/worker.js");
  await navigator.serviceWorker.ready;
})()`;

const reads = `(async () => {
  const opened = indexedDB.open("database", 1);
  const isNew = await new Promise((resolve) => {
    // Looking leaves nothing behind.
    opened.onupgradeneeded = () => opened.transaction.abort();
    opened.onerror = () => resolve(true);
    opened.onsuccess = () => resolve(false);
  });
  const read = isNew ? undefined : opened.result.transaction("objects").objectStore("objects").get("key");
  if (read) await new Promise((resolve) => (read.onsuccess = resolve));
  return {
    cookies: (await (await fetch("/cookies")).text()).split("; ").sort(),
    stored: localStorage.getItem("stored"),
    indexed: read?.result ?? null,
    answer: await (await fetch("/from-worker")).text(),
  };
})()`;

/** Logs a page in at the site with this URL. */
export const logIn = async (page: Page, url: string): Promise<void> => {
  await page.goto(`${url}/login`);
  await page.evaluate(stores);
};

/** What the site finds in the browser of this page. */
export const found = async (page: Page, url: string): Promise<unknown> => {
  await page.goto(url);
  return page.evaluate(reads);
};

/** Calls `use` with a new tab, and leaves the browser as it is then. */
const inTab = async <T>(cdpUrl: string, use: (page: Page) => Promise<T>): Promise<T> => {
  const browser = await puppeteer.connect({ browserWSEndpoint: cdpUrl });
  try {
    return await use(await browser.newPage());
  } finally {
    await browser.disconnect();
  }
};

/** Starts it on this machine's loopback. */
export const loginSite = async (): Promise<LoginSite> => {
  const server = createServer((request, response) => {
    if (request.url === "/login")
      response.setHeader("Set-Cookie", ["day=1; Max-Age=86400; HttpOnly; Path=/", "session=1; HttpOnly; Path=/"]);
    const isWorker = request.url === "/worker.js";
    response.setHeader("Content-Type", isWorker ? "text/javascript" : "text/html");
    if (request.url === "/cookies") response.end(request.headers.cookie ?? "none");
    else response.end(isWorker ? worker : "the server");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    logIn: (cdpUrl) => inTab(cdpUrl, (page) => logIn(page, url)),
    logOut: (cdpUrl) =>
      inTab(cdpUrl, async (page) => {
        const cdp = await page.createCDPSession();
        await cdp.send("Storage.clearDataForOrigin", { origin: url, storageTypes: "all" });
      }),
    found: (cdpUrl) => inTab(cdpUrl, (page) => found(page, url)),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
};
