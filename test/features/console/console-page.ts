/** The console in a real browser, as a person has it open. */
import type { Page } from "puppeteer-core";
import { expect } from "vitest";
import { eventually } from "../../support/eventually.ts";
import type { ViewBrowser } from "../../support/view-page.ts";

/**
 * Opens a view of the console in a browser context of its own, signed in with this key. `faults`: what went wrong in
 * the page.
 */
export const openConsole = async (
  { browser }: ViewBrowser,
  { url, key, path = "" }: { url: string; key: string; path?: string },
): Promise<{ page: Page; faults: string[] }> => {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (message) => {
    // Chromium tells of each answer that is an error, among them the one that says that nobody is signed in.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      faults.push(message.text());
  });
  await page.setViewport({ width: 1280, height: 800 });
  await page.goto(`${url}/console${path}`);
  await page.locator("input[name=api_key]").fill(key);
  await page.keyboard.press("Enter");
  await page.waitForSelector("nav");
  return { page, faults };
};

/** The text of a part of the page, as it is shown. */
export const textOf = (page: Page, selector = "main"): Promise<string> =>
  page.$eval(selector, (element) => (element as unknown as { innerText: string }).innerText);

/** Resolves with the text of a part of the page when it is like this. */
export const untilText = (page: Page, pattern: RegExp, selector = "main", withinMs = 30_000): Promise<string> => {
  let text = "";
  return eventually(
    () => `the page says ${pattern}; it said: ${text}`,
    async () => {
      text = await textOf(page, selector).catch(() => "nothing");
      return pattern.test(text) && text;
    },
    withinMs,
  );
};

/** The windows that a test opens; `close` closes them all, and finds that nothing went wrong in any. */
export const openWindows = () => {
  const windows: { page: Page; faults: string[] }[] = [];
  return {
    async open(...[viewers, wanted]: Parameters<typeof openConsole>): Promise<Page> {
      const window = await openConsole(viewers, wanted);
      windows.push(window);
      return window.page;
    },
    async close(): Promise<void> {
      for (const { page, faults } of windows.splice(0)) {
        await page.browserContext().close();
        expect(faults).toEqual([]);
      }
    },
  };
};
