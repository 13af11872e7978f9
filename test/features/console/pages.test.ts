/** Signing in to the console, and going anywhere in it: a real browser, over the real service. */
import type { Page } from "puppeteer-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { browserPoolKind } from "../../../src/core/model/pools/browser-pool.ts";
import { axeFindings } from "../../support/axe-findings.ts";
import { eventually } from "../../support/eventually.ts";
import { type LocalProject, startProject } from "../../support/stack.ts";
import { startViewBrowser, type ViewBrowser } from "../../support/view-page.ts";
import { openWindows, textOf, untilText } from "./console-page.ts";

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

const windows = openWindows();
afterEach(async () => {
  for (const { metadata } of (await stack.kube.list(browserPoolKind, { namespace: stack.namespace })).items)
    await stack.call("DELETE", `/browser_pools/${metadata.name}`, { force: true });
  await windows.close();
});

/** Opens a view, signed in with the project's key. */
const open = (path: string, key = stack.api_key): Promise<Page> => windows.open(viewers, { url: stack.url, key, path });

test("the page to sign in says what is wrong with a key, and is in nobody's way", async () => {
  const page = await viewers.browser.newPage();
  await page.goto(`${stack.url}/console`);
  await page.waitForSelector("input[name=api_key]");
  expect(await axeFindings(page)).toEqual([]);
  await page.locator("input[name=api_key]").fill("bp_unknown");
  await page.keyboard.press("Enter");
  await untilText(page, /not known/);
  expect(await axeFindings(page)).toEqual([]);
  await page.close();
});

test("a link with a code signs in, and the code is nowhere afterwards", async () => {
  const made = await stack.call("POST", "/console/codes");
  const { code } = (await made.json()) as { code: string };
  const context = await viewers.browser.createBrowserContext();
  const page = await context.newPage();
  await page.goto(`${stack.url}/console#code=${code}`);
  await page.waitForSelector("nav");
  expect(page.url()).not.toContain("code");
  expect(
    await page.evaluate("document.cookie + JSON.stringify(localStorage) + JSON.stringify(sessionStorage)"),
  ).not.toContain(code);
  await context.close();
});

test("⌘K and Ctrl+K go anywhere, and no update takes the focus or the scroll away", async () => {
  const page = await open("/sessions");
  const pool = await stack.kernel.browserPools.create({ name: "far-away", size: 1, fill_rate_per_minute: 0 });
  await page.waitForSelector("main h1");
  await page.keyboard.down("Control");
  await page.keyboard.press("k");
  await page.keyboard.up("Control");
  await page.waitForSelector("dialog[open] [role=combobox]");
  expect(await axeFindings(page)).toEqual([]);
  await eventually("the pool is found", async () => {
    await page.locator("[role=combobox]").fill("");
    await page.keyboard.type("far-a");
    return (await textOf(page, "[role=listbox]")).includes("far-away");
  });
  await page.keyboard.press("Enter");
  await untilText(page, /far-away/, "main h1");
  expect(new URL(page.url()).pathname).toBe(`/console/pools/${pool.id}`);
  await page.locator("summary").click();
  const before = await page.evaluate("document.activeElement.tagName");
  await stack.kernel.browserPools.update(pool.id, { size: 3 });
  await untilText(page, /Wanted 3/);
  expect(await page.evaluate("document.activeElement.tagName")).toBe(before);
  await stack.kernel.browserPools.delete(pool.id, {});
  await untilText(page, /It may have been deleted/);
});
