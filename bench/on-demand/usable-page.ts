/** From nothing to a page that runs script, by every way that a caller may have. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import puppeteer, { type Browser } from "puppeteer-core";
import { chromiumFlags } from "../../src/agent/chromium-flags.ts";
import { locatePrograms } from "../../src/local/locate-programs.mjs";
import { requiredProgram } from "../../src/local/required-program.ts";
import type { Call, PoolClient, Session } from "../../test/support/pool-client.ts";

/** One way: `use` resolves when the page has run script; `end` gives back what it took, outside of the measured time. */
export type Way = () => Promise<{ end(): Promise<void> }>;

const viewport = { width: 1920, height: 1080 };
const settings = { headless: true, viewport, kiosk_mode: false } as never;

/** Resolves when the browser's first page has answered. */
const runScript = async (browser: Browser): Promise<void> => {
  const [page] = await browser.pages();
  if ((await page?.evaluate("1 + 1")) !== 2) throw new Error("no page ran the script");
};

const byUrl = async (browserWSEndpoint: string): Promise<Browser> => {
  const browser = await puppeteer.connect({ browserWSEndpoint, defaultViewport: null });
  await runScript(browser);
  return browser;
};

/** Launches the program and the flags of an agent's headless browser in a new folder, as Puppeteer does. */
export const launch = async (): Promise<{ browser: Browser; close(): Promise<void> }> => {
  const profileDir = await mkdtemp(join(tmpdir(), "bench-"));
  const parts = { devToolsPort: 0, flags: [] };
  const sandbox = process.getuid?.() !== 0;
  const browser = await puppeteer.launch({
    executablePath: requiredProgram(locatePrograms(process.env), "chromium-headless-shell"),
    ignoreDefaultArgs: true,
    defaultViewport: null,
    args: chromiumFlags(settings, { profileDir, shell: true, sandbox, smallSharedMemory: true, parts }),
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
  await runScript(browser);
  return { end: close };
};

/** A connection to a Chromium that runs already. */
export const directTo =
  (webSocketUrl: string): Way =>
  async () => {
    const browser = await byUrl(webSocketUrl);
    return { end: () => browser.disconnect() };
  };

export const pooled =
  (pool: PoolClient): Way =>
  async () => {
    const session = await pool.acquire();
    const browser = await byUrl(session.cdp_ws_url);
    return {
      async end() {
        await browser.disconnect();
        await pool.release(session);
      },
    };
  };

export const onDemand =
  (call: Call): Way =>
  async () => {
    const answer = await call("POST", "/browsers", { headless: true });
    if (answer.status !== 200) throw new Error(`no browser: ${answer.status} ${await answer.text()}`);
    const session = (await answer.json()) as Session;
    const browser = await byUrl(session.cdp_ws_url);
    return {
      async end() {
        await browser.disconnect();
        await (await call("DELETE", `/browsers/${session.session_id}`)).body?.cancel();
      },
    };
  };
