/** What a client does with a browser over CDP, as scripts that compare browser services do it. */
import { chromium } from "playwright-core";
import puppeteer from "puppeteer-core";

/** One script that has connected to a browser. */
type Running = {
  /** Does all actions of the script once. Rejects when one of them did not do what it should. */
  loop(): Promise<void>;
  close(): Promise<void>;
};

export type Script = {
  what: string;
  /** Actions of one loop. */
  actions: number;
  connect(cdpUrl: string, siteUrl: string): Promise<Running>;
};

const expectSame = (seen: unknown, wanted: string): void => {
  if (seen !== wanted) throw new Error(`the page shows ${JSON.stringify(seen)}, not ${wanted}`);
};

/** The first page of the first context, as in a browser that a service has just given. */
const playwrightPage = async (cdpUrl: string) => {
  const browser = await chromium.connectOverCDP(cdpUrl);
  const context = browser.contexts()[0] ?? (await browser.newContext());
  return { page: context.pages()[0] ?? (await context.newPage()), close: () => browser.close() };
};

/** The ten actions of computesdk's "browser throughput": it counts actions, and their time alone, without connecting. */
const articles: Script = {
  what: "articles, screenshots and links, Playwright",
  actions: 10,
  async connect(cdpUrl, siteUrl) {
    const { page, close } = await playwrightPage(cdpUrl);
    const look = async (name: string): Promise<void> => {
      await page.waitForSelector("#heading");
      await page.screenshot();
      expectSame(await page.textContent("#heading"), name);
    };
    const loop = async (): Promise<void> => {
      await page.goto(`${siteUrl}/first`, { waitUntil: "load" });
      await look("first");
      await page.click('#content a[href^="/"]');
      await page.waitForURL("**/second");
      await look("second");
      await page.goBack({ waitUntil: "commit" });
      await page.waitForSelector("#heading");
    };
    return { loop, close };
  },
};

/** Short actions alone: what the way to the browser adds to each weighs most here. */
const playwrightForm: Script = {
  what: "short actions in a form, Playwright",
  actions: 6,
  async connect(cdpUrl, siteUrl) {
    const { page, close } = await playwrightPage(cdpUrl);
    await page.goto(`${siteUrl}/form`);
    let count = 0;
    const loop = async (): Promise<void> => {
      const name = `name ${++count}`;
      await page.fill("#name", name);
      await page.fill("#town", "town");
      await page.click("#send");
      expectSame(await page.textContent("#sent"), name);
      expectSame(await page.evaluate("document.title"), "form");
      expectSame(await page.inputValue("#town"), "town");
    };
    return { loop, close };
  },
};

const puppeteerForm: Script = {
  what: "short actions in a form, Puppeteer",
  actions: 6,
  async connect(browserWSEndpoint, siteUrl) {
    const browser = await puppeteer.connect({ browserWSEndpoint, defaultViewport: null });
    const page = (await browser.pages())[0] ?? (await browser.newPage());
    await page.goto(`${siteUrl}/form`);
    let count = 0;
    const loop = async (): Promise<void> => {
      const name = `name ${++count}`;
      await page.$eval("#name", (input, value) => Object.assign(input, { value }), name);
      await page.focus("#town");
      await page.click("#send");
      expectSame(await page.$eval("#sent", ({ textContent }) => textContent), name);
      expectSame(await page.title(), "form");
      expectSame(await page.evaluate("document.title"), "form");
    };
    return { loop, close: () => browser.disconnect() };
  },
};

export const scripts: readonly Script[] = [articles, playwrightForm, puppeteerForm];
