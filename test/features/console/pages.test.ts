/** The console's pages in a real browser, over the real service. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings } from "../../support/axe-findings.ts";
import { type LocalProject, startProject } from "../../support/stack.ts";
import { startViewBrowser, type ViewBrowser } from "../../support/view-page.ts";
import { openConsole } from "./console-page.ts";

let stack: LocalProject;
let viewers: ViewBrowser;
beforeAll(async () => {
  stack = await startProject();
  viewers = await startViewBrowser();
});
afterAll(async () => {
  await viewers?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
});

test("axe finds nothing on the page to sign in, nor on what it says of a bad key", async () => {
  const page = await viewers.browser.newPage();
  await page.goto(`${stack.url}/console`);
  await page.waitForSelector("input[name=api_key]");
  expect(await axeFindings(page)).toEqual([]);
  await page.locator("input[name=api_key]").fill("bp_unknown");
  await page.keyboard.press("Enter");
  await page.waitForSelector("[role=alert]");
  expect(await page.$eval("[role=alert]", ({ textContent }) => textContent)).toContain("not known");
  expect(await axeFindings(page)).toEqual([]);
  await page.close();
});

test("axe finds nothing on an empty project, light and dark", async () => {
  const { page, faults } = await openConsole(viewers, { url: stack.url, key: stack.api_key, path: "/pools" });
  await page.waitForSelector("main h1");
  for (const theme of ["light", "dark"]) {
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
    expect(await axeFindings(page), theme).toEqual([]);
  }
  expect(faults).toEqual([]);
  await page.close();
});
