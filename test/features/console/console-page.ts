/** The console in a real browser, as a person has it open. */
import type { Page } from "puppeteer-core";
import type { ViewBrowser } from "../../support/view-page.ts";

/** Opens a view of the console, signed in with this key. `watched`: what went wrong in the page, to be looked at. */
export const openConsole = async (
  { browser }: ViewBrowser,
  { url, key, path = "" }: { url: string; key: string; path?: string },
): Promise<{ page: Page; faults: string[] }> => {
  const page = await browser.newPage();
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
