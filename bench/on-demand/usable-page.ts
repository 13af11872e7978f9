/** From nothing to a new page that has loaded a document and run script, by every way that a caller may have. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import puppeteer, { type Browser, type Page } from "puppeteer-core";
import { chromiumFlags } from "../../src/core/agent/chromium-flags.ts";
import { locatePrograms } from "../../src/local/locate-programs.mjs";
import { requiredProgram } from "../../src/local/required-program.ts";
import type { Call, PoolClient, Session } from "../../test/support/pool-client.ts";

/** One way: it resolves when the page has run script; `end` gives back what it took, outside of the measured time. */
export type Way = () => Promise<{ end(): Promise<void> }>;

const viewport = { width: 1920, height: 1080 };
const settings = { headless: true, viewport, kiosk_mode: false } as never;

const documentUrl = "data:text/html,<title>usable</title>";

const openPage = async (browser: Browser): Promise<Page> => {
  const page = await browser.newPage();
  await page.goto(documentUrl);
  if ((await page.evaluate("document.title")) !== "usable") throw new Error("the page did not load");
  return page;
};

/** A page over a new connection; `leave` closes both. */
export const pageAt = async (browserWSEndpoint: string) => {
  const browser = await puppeteer.connect({ browserWSEndpoint, defaultViewport: null });
  const page = await openPage(browser);
  return {
    async leave() {
      await page.close();
      await browser.disconnect();
    },
  };
};

/** The flags of an agent's headless browser. */
export const headlessFlags = (profileDir: string): string[] => {
  const parts = { devToolsPort: 0, flags: [] };
  const sandbox = process.getuid?.() !== 0;
  return chromiumFlags(settings, { profileDir, shell: true, sandbox, smallSharedMemory: true, parts });
};

/** Launches the program and the flags of an agent's headless browser in a new folder, as Puppeteer does. */
export const launch = async (): Promise<{ browser: Browser; close(): Promise<void> }> => {
  const profileDir = await mkdtemp(join(tmpdir(), "bench-"));
  const browser = await puppeteer.launch({
    executablePath: requiredProgram(locatePrograms(process.env), "chromium-headless-shell"),
    ignoreDefaultArgs: true,
    defaultViewport: null,
    args: headlessFlags(profileDir),
  });
  return {
    browser,
    async close() {
      await browser.close();
      await rm(profileDir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
};

export const bareLaunch: Way = async () => {
  const { browser, close } = await launch();
  await openPage(browser);
  return { end: close };
};

/** A connection to a Chromium that runs already. */
export const directTo =
  (webSocketUrl: string): Way =>
  async () => {
    const { leave } = await pageAt(webSocketUrl);
    return { end: leave };
  };

export const pooled =
  (pool: PoolClient): Way =>
  async () => {
    const session = await pool.acquire();
    const { leave } = await pageAt(session.cdp_ws_url);
    return {
      async end() {
        await leave();
        await pool.release(session);
      },
    };
  };

/** `more`: settings that no pool has. */
export const onDemand =
  (call: Call, more: object = {}): Way =>
  async () => {
    const answer = await call("POST", "/browsers", { headless: true, ...more });
    if (answer.status !== 200) throw new Error(`no browser: ${answer.status} ${await answer.text()}`);
    const session = (await answer.json()) as Session;
    const { leave } = await pageAt(session.cdp_ws_url);
    return {
      async end() {
        await leave();
        await (await call("DELETE", `/browsers/${session.session_id}`)).body?.cancel();
      },
    };
  };
