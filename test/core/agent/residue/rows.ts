/** What a holder can leave in a browser, and how the next holder would find it. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, BrowserContext, CDPSession, Page } from "puppeteer-core";
import { expect } from "vitest";
import { eventually } from "../../../support/eventually.ts";
import type { Site } from "./site.ts";

/**
 * One holder's connection. `page`: at the site; `dir`, `sharedMemory`: folders that Chromium can write to; `memory`:
 * what the holder before knew.
 */
export type Holder = {
  browser: Browser;
  context: BrowserContext;
  page: Page;
  site: Site;
  dir: string;
  sharedMemory: string;
  memory: { pids?: string[] };
};

type Row = {
  what: string;
  leave(holder: Holder): Promise<unknown>;
  /** Whether the next holder meets what was left. */
  isFound(holder: Holder): Promise<boolean>;
  /** What a browser that is kept shows: a CDP setting ends with its connection, everything else stays. */
  kept: boolean;
};

/** A session of the whole browser. */
const browserCdp = (browser: Browser): Promise<CDPSession> => browser.target().createCDPSession();

const downloads = (dir: string): string => join(dir, "downloads");

/** Processes that the wrapped Chromium has started outside of its process group. */
export const extraProcesses = (dir: string): string[] =>
  readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(extraProcessName(dir));
    } catch {
      return false;
    }
  });

/** An argument of such a process. */
export const extraProcessName = (dir: string): string => `extra-process-of-${dir}`;

const download = async ({ browser, site }: Holder, folder: string): Promise<void> => {
  await mkdir(folder, { recursive: true });
  const cdp = await browserCdp(browser);
  await cdp.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: folder });
  await (await browser.newPage()).goto(`${site.url}/file`).catch(() => undefined);
  await eventually("the file is there", () => existsSync(join(folder, "left.txt")));
};

/**
 * Evaluates what only a page with the focus may do. Without a window manager the focus comes late, and new windows take
 * it.
 */
const withFocus = async (page: Page, expression: string): Promise<unknown> => {
  let value: unknown;
  await eventually("the page has the focus", async () => {
    await page.bringToFront();
    return page.evaluate(expression).then(
      (result) => {
        value = result;
        return true;
      },
      () => false,
    );
  });
  return value;
};

const everyPage = async (browser: Browser, expression: string): Promise<unknown[]> =>
  Promise.all((await browser.pages()).map((page) => page.evaluate(expression)));

const inPage = {
  localStorage: { leave: "localStorage.left = 1", found: "localStorage.left === '1'" },
  IndexedDB: {
    leave: "new Promise((ok) => { indexedDB.open('left').onsuccess = ok }).then(() => 0)",
    found: "indexedDB.databases().then((all) => all.some(({ name }) => name === 'left'))",
  },
  "Cache Storage": {
    leave: "caches.open('left').then((cache) => cache.put('/left', new Response('left')))",
    found: "caches.has('left')",
  },
  "origin-private files": {
    leave: "navigator.storage.getDirectory().then((dir) => dir.getFileHandle('left', { create: true })).then(() => 0)",
    found: "navigator.storage.getDirectory().then((dir) => dir.getFileHandle('left')).then(() => true, () => false)",
  },
  "service workers": {
    leave: "navigator.serviceWorker.register('/worker.js').then(() => navigator.serviceWorker.ready).then(() => 0)",
    found: "navigator.serviceWorker.getRegistrations().then((all) => all.length > 0)",
  },
};

const storageRows: Row[] = Object.entries(inPage).map(([what, { leave, found }]) => ({
  what,
  leave: ({ page }) => page.evaluate(leave),
  isFound: ({ page }) => page.evaluate(found) as Promise<boolean>,
  kept: true,
}));

export const rows: Row[] = [
  {
    // Before another row says where downloads go.
    what: "downloads among the session's files",
    async leave({ browser, site, dir }) {
      await (await browser.newPage()).goto(`${site.url}/file`).catch(() => undefined);
      await eventually("the file is there", () => existsSync(join(dir, "tmp", "downloads", "left.txt")));
    },
    isFound: async ({ dir }) => existsSync(join(dir, "tmp", "downloads", "left.txt")),
    kept: false,
  },
  {
    what: "cookies",
    leave: ({ context, site }) =>
      context.setCookie({ name: "left", value: "1", domain: new URL(site.url).hostname, expires: 4e9 }),
    isFound: async ({ context }) => (await context.cookies()).some(({ name }) => name === "left"),
    kept: true,
  },
  ...storageRows,
  {
    what: "open tabs",
    leave: async ({ browser, site }) => (await browser.newPage()).goto(`${site.url}/left-tab`),
    isFound: async ({ browser }) => browser.targets().some((target) => target.url().endsWith("/left-tab")),
    kept: true,
  },
  {
    what: "open windows",
    leave: async ({ browser, site }) =>
      (await browserCdp(browser)).send("Target.createTarget", { url: `${site.url}/left-window`, newWindow: true }),
    isFound: async ({ browser }) => browser.targets().some((target) => target.url().endsWith("/left-window")),
    kept: true,
  },
  {
    what: "session storage of a tab",
    leave: async ({ browser, site }) => {
      const page = await browser.newPage();
      await page.goto(`${site.url}/left-session`);
      await page.evaluate("sessionStorage.left = 1");
    },
    isFound: async ({ browser }) => {
      const target = browser.targets().find((one) => one.url().endsWith("/left-session"));
      return (await (await target?.page())?.evaluate("sessionStorage.left")) === "1";
    },
    kept: true,
  },
  {
    what: "DevTools exposed to a page",
    async leave({ browser, site }) {
      const page = await browser.newPage();
      await page.goto(`${site.url}/spy`);
      const { targetId } = (await (await page.createCDPSession()).send("Target.getTargetInfo")).targetInfo;
      await (await browserCdp(browser)).send("Target.exposeDevToolsProtocol", { targetId, bindingName: "spy" });
      // The page asks for all targets again and again, and reports them.
      await page.evaluate(`
        spy.onmessage = (text) => fetch("/report?" + encodeURIComponent(text));
        setInterval(() => spy.send(JSON.stringify({ id: 1, method: "Target.getTargets" })), 50);
      `);
      await eventually("the page has CDP", () => site.reports.some((text) => text.includes("/spy")));
    },
    async isFound({ browser, site }) {
      const page = await browser.newPage();
      await page.goto(`${site.url}/secret-of-the-next-holder`);
      const isSeen = () => site.reports.some((text) => text.includes("secret-of-the-next-holder"));
      await eventually("the spy has seen it", isSeen, 1500).catch(() => undefined);
      return isSeen();
    },
    kept: true,
  },
  {
    what: "clipboard",
    leave: async ({ page, context, site }) => {
      await context.overridePermissions(site.url, ["clipboard-read", "clipboard-write", "clipboard-sanitized-write"]);
      await withFocus(page, "navigator.clipboard.writeText('left')");
    },
    isFound: async ({ page, context, site }) => {
      await context.overridePermissions(site.url, ["clipboard-read", "clipboard-write", "clipboard-sanitized-write"]);
      const text = await withFocus(page, "navigator.clipboard.readText()");
      await context.clearPermissionOverrides();
      return text === "left";
    },
    kept: true,
  },
  {
    what: "downloads",
    leave: (holder) => download(holder, downloads(holder.dir)),
    isFound: async ({ dir }) => existsSync(join(downloads(dir), "left.txt")),
    kept: true,
  },
  {
    what: "download behaviour",
    leave: async () => undefined,
    isFound: async ({ browser, site, dir }) => {
      const before = existsSync(downloads(dir)) ? readdirSync(downloads(dir)).length : 0;
      await (await browser.newPage()).goto(`${site.url}/file`).catch(() => undefined);
      const isThere = () => existsSync(downloads(dir)) && readdirSync(downloads(dir)).length > before;
      await eventually("another file is there", isThere, 1000).catch(() => undefined);
      return isThere();
    },
    kept: false,
  },
  {
    what: "files in a writable folder",
    leave: (holder) => download(holder, holder.sharedMemory),
    isFound: async ({ sharedMemory }) => existsSync(join(sharedMemory, "left.txt")),
    kept: true,
  },
  {
    what: "a process that left Chromium's group",
    leave: async ({ dir, memory }) => {
      memory.pids = extraProcesses(dir);
      expect(memory.pids).not.toEqual([]);
    },
    isFound: async ({ dir, memory }) => extraProcesses(dir).some((pid) => memory.pids?.includes(pid)),
    kept: true,
  },
  {
    what: "permissions",
    leave: ({ context, site }) => context.overridePermissions(site.url, ["geolocation", "notifications"]),
    isFound: async ({ page }) =>
      (await page.evaluate("navigator.permissions.query({ name: 'geolocation' }).then(({ state }) => state)")) ===
      "granted",
    kept: false,
  },
  {
    what: "emulation",
    leave: async ({ page }) => {
      await page.setViewport({ width: 333, height: 222 });
      await page.setUserAgent({ userAgent: "left" });
      await page.emulateTimezone("Asia/Tokyo");
    },
    isFound: async ({ browser }) => {
      const isGone = async (): Promise<boolean> => {
        // A tab in the background gets its size when it is shown, a moment later.
        for (const page of await browser.pages()) await page.bringToFront();
        const widths = await everyPage(browser, "innerWidth");
        const agents = await everyPage(browser, "navigator.userAgent");
        const zones = await everyPage(browser, "Intl.DateTimeFormat().resolvedOptions().timeZone");
        return !widths.includes(333) && !agents.includes("left") && !zones.includes("Asia/Tokyo");
      };
      return eventually("no emulation is left", isGone, 10_000).then(
        () => false,
        () => true,
      );
    },
    kept: false,
  },
  {
    what: "network conditions",
    leave: ({ page }) => page.setOfflineMode(true),
    isFound: async ({ browser }) => (await everyPage(browser, "navigator.onLine")).includes(false),
    kept: false,
  },
  {
    what: "added scripts",
    leave: ({ page }) => page.evaluateOnNewDocument("window.left = 1"),
    isFound: async ({ browser, site }) => {
      for (const page of await browser.pages()) await page.goto(`${site.url}/again`);
      return (await everyPage(browser, "window.left")).includes(1);
    },
    kept: false,
  },
];
